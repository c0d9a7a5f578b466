// The connections to one server. With HTTP/2 all requests share as few connections as its limits permit; otherwise
// HTTP/1.1. When the server, the trust or the certificate changes, later requests use new connections.
import { unlessAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Connection } from './connection.ts';
import { dial } from './dial.ts';
import { http1 } from './http1.ts';
import { type Http2, http2 } from './http2.ts';
import { type Incoming, type Packet, WireError } from './wire.ts';

export interface Pool {
  send(connection: Connection, packet: Packet, signal: AbortSignal): Promise<Incoming>;
  /** The number of previous connections that were still in use when last checked. */
  readonly former: number;
  /** Closes all connections. */
  close(): void;
}

export interface PoolOptions {
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
}

interface Lines {
  readonly connection: Connection;
  /** It has no requests and no connections. */
  readonly isOver: boolean;
  send(packet: Packet, signal: AbortSignal): Promise<Incoming>;
  retire(): void;
  destroy(): void;
}

export function createPool(options: PoolOptions): Pool {
  let lines: Lines | undefined;
  let retired: Lines[] = [];
  let isClosed = false;
  return {
    async send(connection, packet, signal) {
      if (isClosed) throw new WireError('the connection is closed', { sent: false });
      if (lines === undefined || !leadsTheSameWay(lines.connection, connection)) {
        lines?.retire();
        // Certificates are renewed while a program runs.
        retired = [...retired, ...(lines ? [lines] : [])].filter((each) => !each.isOver);
        lines = linesTo(connection, options);
      }
      return lines.send(packet, signal);
    },
    get former() {
      return retired.length;
    },
    close() {
      isClosed = true;
      lines?.destroy();
      for (const each of retired) each.destroy();
    },
  };
}

const WAY = ['server', 'ca', 'insecure', 'serverName', 'proxy', 'certificate', 'key'] as const;

const leadsTheSameWay = (a: Connection, b: Connection): boolean =>
  a === b || WAY.every((field) => a[field] === b[field]);

function linesTo(connection: Connection, { clock, connectTimeoutMs: timeoutMs }: PoolOptions): Lines {
  let sessions: Http2[] = [];
  let opening: Promise<void> | undefined;
  let isPlain = connection.server.startsWith('http:');
  let isRetired = false;
  let isOver = false;
  const old = http1(async () => (await dial(connection, { clock, timeoutMs, protocols: ['http/1.1'] })).socket);

  const open = async (): Promise<void> => {
    const { socket, protocol } = await dial(connection, { clock, timeoutMs, protocols: ['h2', 'http/1.1'] });
    if (isOver) socket.destroy();
    if (protocol === 'h2') {
      const session = await http2(socket, connection.server, clock, timeoutMs);
      if (isOver) return session.destroy();
      // Additional connections were opened for a burst that may be over.
      for (const each of sessions) if (each.isIdle) each.retire();
      sessions = [...sessions.filter((each) => !each.isOver), session];
    } else {
      isPlain = true;
      old.adopt(socket);
    }
  };
  const opened = (): Promise<void> => {
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  };
  return {
    connection,
    get isOver() {
      return opening === undefined && sessions.every((each) => each.isOver && each.isIdle) && old.isIdle;
    },
    async send(packet, signal) {
      for (;;) {
        const session = sessions.find((each) => each.hasRoom);
        if (session) {
          const answer = session.send(packet, signal);
          // The session was still being opened when the others were retired. It is retired only after the response has
          // begun: a request that is not on its way yet would be rejected.
          const retire = () => session.retire();
          if (isRetired) void answer.then(retire, retire);
          return answer;
        }
        if (isPlain) return old.send(packet, signal);
        try {
          await unlessAborted(opened(), signal, () => new Error('given up'));
        } catch (cause) {
          throw new WireError(messageOf(cause), { cause, sent: false });
        }
      }
    },
    retire() {
      isRetired = true;
      for (const session of sessions) session.retire();
      old.retire();
    },
    destroy() {
      isOver = true;
      for (const session of sessions) session.destroy();
      old.destroy();
    },
  };
}
