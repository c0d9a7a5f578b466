// Our current credentials for the server. Guarantee: renewed credentials are used within RENEW_MS or as soon as the
// server rejects the old ones; while the new ones cannot be read the old ones stay.
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { deepEqual } from '../base/json.ts';
import type { Connection, Impersonation } from './connection.ts';
import { type Ask, openPlugin } from './login-plugin.ts';

export interface Identity {
  readonly connection: Connection;
  readonly headers: OutgoingHttpHeaders;
}

export interface Login {
  current(): Promise<Identity>;
  /** After a 401 to `used`: true if there are other credentials to try. */
  renew(used: Identity): Promise<boolean>;
}

export interface LoginOptions {
  readonly clock: Clock;
  /** Loads the connection again from its source. */
  readonly reload?: () => Connection;
}

export const RENEW_MS = 10_000;

export function createLogin(first: Connection, { clock, reload }: LoginOptions): Login {
  let connection = first;
  let readAtMs = clock.now();
  let identity: Identity | undefined;
  let ask: Promise<Ask> | undefined;
  let establishing: Promise<Identity> | undefined;
  let renewing: Promise<boolean> | undefined;

  const readAgain = () => {
    if (reload === undefined) return;
    readAtMs = clock.now();
    let next: Connection;
    try {
      next = reload();
    } catch {
      return; // it may be incomplete at this moment
    }
    if (deepEqual(next, connection)) return;
    connection = next;
    identity = undefined;
    ask = undefined;
  };

  const establish = async (): Promise<Identity> => {
    const { plugin } = connection;
    if (plugin === undefined) return identityOf(connection);
    ask ??= openPlugin(connection, plugin);
    try {
      return identityOf({ ...connection, ...(await (await ask)()) });
    } catch (error) {
      ask = undefined;
      throw error;
    }
  };
  const established = (): Promise<Identity> => {
    establishing ??= establish()
      .then((next) => {
        identity = next;
        return next;
      })
      .finally(() => {
        establishing = undefined;
      });
    return establishing;
  };
  const isNew = async (used: Identity) => {
    identity = undefined;
    return !deepEqual((await established()).connection, used.connection);
  };
  const renew = async (used: Identity): Promise<boolean> => {
    readAgain();
    if (identity === undefined) return true;
    if (connection.plugin === undefined) return false;
    // Without a reset first: the plugin may know that its credentials expired, and a refresh token can often be used
    // only once.
    if (await isNew(used)) return true;
    ask = undefined;
    return isNew(used);
  };
  return {
    current() {
      if (connection.tokenIsRenewed && clock.now() - readAtMs >= RENEW_MS) readAgain();
      return identity === undefined ? established() : Promise.resolve(identity);
    },
    async renew(used) {
      if (identity !== undefined && identity !== used) return true;
      renewing ??= renew(used).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}

function identityOf(connection: Connection): Identity {
  const { token, impersonate } = connection;
  return {
    connection,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(impersonate === undefined ? {} : impersonationHeaders(impersonate)),
    },
  };
}

function impersonationHeaders({ user, uid, groups, extra }: Impersonation): OutgoingHttpHeaders {
  const extras = Object.entries(extra).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
    [...values],
  ]);
  return {
    'impersonate-user': user,
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(extras),
  };
}
