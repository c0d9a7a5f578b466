import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClosableHttp2Server, connectionTo, http2Server, portOf } from '../../test/conformance/subjects.ts';
import { wallClock } from '../base/clock.ts';
import type { Connection } from './connection.ts';
import { createPool } from './pool.ts';
import type { Packet } from './wire.ts';

describe('connections of before', () => {
  let server: ClosableHttp2Server;
  const open = new Set<object>();
  beforeAll(async () => {
    server = await http2Server({});
    server.on('session', (session) => {
      open.add(session);
      session.once('close', () => {
        open.delete(session);
        server.emit('one less');
      });
    });
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('{}');
    });
  });
  afterAll(() => server.closeHard());

  const signal = new AbortController().signal;
  const packet: Packet = { method: 'GET', path: '/', host: 'localhost', headers: {}, isWatch: false };
  /** The same server with another connection. */
  const way = (name: string): Connection => {
    const connection = connectionTo(portOf(server));
    return { ...connection, ca: `${connection.ca}\n# ${name}\n` };
  };
  const becomes = async (count: number) => {
    while (open.size > count) await once(server, 'one less');
    expect(open.size).toBe(count);
  };

  test('are closed, also those that were still being opened', async () => {
    const pool = createPool({ clock: wallClock, connectTimeoutMs: 10_000 });
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => pool.send(way(name), packet, signal)));
    await Promise.all(answers.map(({ body }) => buffer(body)));
    await becomes(1);
    pool.close();
    await becomes(0);
  });

  test('are forgotten', async () => {
    const pool = createPool({ clock: wallClock, connectTimeoutMs: 10_000 });
    for (let renewals = 0; renewals < 10; renewals++) {
      const { body } = await pool.send(way(`${renewals}`), packet, signal);
      await buffer(body);
      await becomes(1);
    }
    expect(pool.former).toBeLessThanOrEqual(1);
    pool.close();
    await becomes(0);
  });
});
