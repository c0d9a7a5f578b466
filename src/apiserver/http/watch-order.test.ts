import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { wallClock } from '../../base/clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { FeedEvent } from '../verbs/call.ts';
import type { EventShape } from './event-encoder.ts';
import { createWatchHub } from './watch-stream.ts';

/** As many steps as those in the process take, at least, from hearing of a change to acting on it. */
const STEPS = 4;

test('what happened is on its way to those who watch over the wire before anybody in the process acts on it', async () => {
  const hub = createWatchHub({
    clock: wallClock,
    random: seededRandom(1),
    limits: { watchBufferBytes: 1_000_000, watchStallMs: 60_000 },
  });
  const news: FeedEvent[] = [];
  let wake = () => {};
  const feed = {
    pull: () => news.splice(0),
    revision: 1,
    onWake(heard: () => void) {
      wake = heard;
      return () => {};
    },
  };
  const encoder = { encode: () => Buffer.from('news'), made: 0 };
  const server = createServer((request, response) => {
    const watch = { feed, shape: {} as EventShape, encoder, sendsBookmarks: false, timeoutSeconds: undefined };
    hub.open({ request, response, auditId: '', warnings: new Set(), isLast: false }, watch);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false });
  const [socket] = await accepted;
  const [answer] = await once(client, 'response');

  const before = socket.bytesWritten;
  news.push({ type: 'MODIFIED', revision: 2 });
  wake();
  expect(socket.bytesWritten).toBe(before);
  for (let step = 0; step < STEPS; step++) await null;
  expect(socket.bytesWritten).toBeGreaterThan(before);
  expect(socket.writableLength).toBe(0); // and nothing of it is held back

  answer.destroy();
  hub.endAll();
  server.close();
});
