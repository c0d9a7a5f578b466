// Connections to the members' own API servers, if the caller's kubeconfig has a context with the name of the member.
// The hub has none.
import type { Transport } from '../../api/transport.ts';
import { wallClock } from '../../base/clock.ts';
import { httpTransport } from '../../client/http.ts';
import { type ConnectOptions, connectionIfThere } from '../server/connect.ts';

export interface Members extends Disposable {
  /** A string = why the caller has no connection. */
  at(cluster: string): Transport | string;
}

/** `why` gives up soon rather than answer late. */
const PATIENCE_MS = 5000;

export function membersFrom({ kubeconfig }: Pick<ConnectOptions, 'kubeconfig'>): Members {
  const open = new Map<string, ReturnType<typeof httpTransport>>();
  return {
    at(cluster) {
      const known = open.get(cluster);
      if (known !== undefined) return known;
      const connection = connectionIfThere({ kubeconfig, context: cluster });
      if (connection === undefined) return 'the kubeconfig has no context of that name';
      // A login plugin may prompt the user, which extra evidence does not justify.
      if (connection.plugin !== undefined) return 'its context logs in by a program of its own';
      const patience = { timeoutMs: PATIENCE_MS, connectTimeoutMs: PATIENCE_MS };
      const transport = httpTransport(connection, { clock: wallClock, ...patience });
      open.set(cluster, transport);
      return transport;
    },
    [Symbol.dispose]() {
      for (const transport of open.values()) transport.close();
    },
  };
}
