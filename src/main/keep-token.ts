// The agent renews its own token on the hub after half of its lifetime, with a permission for its own ServiceAccount
// only. The new token is used at once and written to the kubeconfig, for the next start of the agent.

import { serviceAccountResource } from '../api/resources.ts';
import { claimsOf, issuedToken, type TokenClaims, tokenRequest } from '../api/token-request.ts';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import type { Connection } from '../client/connection.ts';
import { backOffMs } from '../runtime/back-off.ts';
import type { Log } from '../runtime/deps.ts';

/** The agent's credential on the hub. */
export interface Credential {
  /** Replaces the token by its renewal. If the kubeconfig has a third token, that one wins, because a user wrote it. */
  readonly refine: (found: Connection) => Connection;
  token(): string | undefined;
  renewed(token: string): void;
}

export function createCredential(): Credential {
  let found: string | undefined;
  let newest: string | undefined;
  return {
    refine(connection) {
      // Token files, certificates and login plugins are renewed by others.
      if (connection.token === undefined || connection.tokenIsRenewed) {
        found = undefined;
        return connection;
      }
      if (connection.token !== found && connection.token !== newest) newest = undefined;
      found = connection.token;
      return { ...connection, token: newest ?? connection.token, tokenIsRenewed: true };
    },
    token: () => newest ?? found,
    renewed(token) {
      newest = token;
    },
  };
}

const RETRY = { firstMs: 5_000, maxMs: 300_000 };
const LONGEST_WAIT_MS = 24 * 3_600_000;

/**
 * After half of its lifetime. A wrong clock of this machine cannot delay it, because the lifetime is a difference of
 * the hub's own times.
 */
export function renewAt({ issuedAt, expiresAt }: TokenClaims, now: number): number {
  const lifetime = expiresAt - issuedAt;
  const left = Math.min(expiresAt - now, lifetime);
  return now + Math.max(0, left - lifetime / 2);
}

export interface KeepTokenOptions {
  readonly hub: Transport;
  readonly credential: Credential;
  /** Persists the token. */
  keep(token: string): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export function keepToken({ hub, credential, keep, clock, random, log }: KeepTokenOptions): { stop(): void } {
  const stopping = new AbortController();
  let cancel = () => {};
  let failures = 0;

  function arm(): void {
    const token = credential.token();
    const claims = token === undefined ? undefined : claimsOf(token);
    // The kubeconfig may be replaced by one whose token expires, so it is checked again.
    const due = claims === undefined ? Number.POSITIVE_INFINITY : renewAt(claims, clock.now());
    const at = Math.min(due, clock.now() + LONGEST_WAIT_MS);
    cancel = clock.at(at, 'token', () => void (at < due ? arm() : renew()));
  }

  async function renew(): Promise<void> {
    const before = credential.token();
    const claims = before === undefined ? undefined : claimsOf(before);
    if (claims === undefined || renewAt(claims, clock.now()) > clock.now()) return arm();
    try {
      const at = { resource: serviceAccountResource, namespace: claims.namespace, name: claims.account };
      const { object } = await hub.call(
        {
          verb: 'create',
          at: { ...at, subresource: 'token' },
          object: tokenRequest(claims.expiresAt - claims.issuedAt),
          manager: 'flotilla-member',
        },
        stopping.signal,
      );
      const { token, expirationTimestamp } = issuedToken(object);
      failures = 0;
      credential.renewed(token);
      log.info('renewed the token for the hub', { until: expirationTimestamp });
      writeDown(token);
      arm();
    } catch (error) {
      if (stopping.signal.aborted) return;
      failures += 1;
      const retryMs = backOffMs(RETRY, failures, random);
      log.warn('cannot renew the token for the hub', {
        error: messageOf(error),
        expires: new Date(claims.expiresAt).toISOString(),
        retrySeconds: Math.round(retryMs / 1000),
      });
      cancel = clock.at(clock.now() + retryMs, 'token', () => void renew());
    }
  }

  function writeDown(token: string): void {
    try {
      keep(token);
    } catch (error) {
      log.warn('cannot write the renewed token to the kubeconfig: after a restart the agent has only the old one', {
        error: messageOf(error),
      });
    }
  }

  arm();
  return {
    stop() {
      stopping.abort();
      cancel();
    },
  };
}
