import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { wallClock } from '../../base/clock.ts';
import { seededRandom } from '../../base/random.ts';
import type { FeedEvent } from '../verbs/call.ts';
import type { EventShape } from './event-encoder.ts';
import { createWatchHub } from './watch-stream.ts';

/** A hub with one watcher. `happens` wakes it, as a store does for a visible change. */
async function watched() {
  const hub = createWatchHub({
    clock: wallClock,
    random: seededRandom(1),
    limits: { watchBufferBytes: 1_000_000, watchStallMs: 60_000 },
  });
  const news: FeedEvent[] = [];
  let wake = () => {};
  let told = 0;
  const feed = {
    pull: () => news.splice(0),
    revision: 1,
    onWake(heard: () => void) {
      wake = heard;
      return () => {};
    },
  };
  const encode = () => {
    told++;
    return Buffer.from('news');
  };
  const server = createServer((request, response) => {
    const watch = { feed, shape: {} as EventShape, encoder: { encode, made: 0 }, sendsBookmarks: false };
    const exchange = { request, response, auditId: '', warnings: new Set<string>(), isLast: false };
    const account = { closeWatch() {}, addUnsent() {}, isUnread: () => false };
    hub.open(exchange, { ...watch, account, timeoutSeconds: undefined });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false });
  const [socket] = await accepted;
  const [answer] = await once(client, 'response');
  answer.resume();
  return {
    socket,
    told: () => told,
    happens() {
      news.push({ type: 'MODIFIED', revision: 2 });
      wake();
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The minimum number of microtasks between a change and the reaction of a controller in the process. */
const STEPS = 4;

test('what happened is on its way to those who watch over the wire before controllers in the process act on it', async () => {
  await using it = await watched();
  const { socket } = it;
  const before = socket.bytesWritten;
  it.happens();
  expect(socket.bytesWritten).toBe(before);
  for (let step = 0; step < STEPS; step++) await null;
  expect(socket.bytesWritten).toBeGreaterThan(before);
  expect(socket.writableLength).toBe(0); // and nothing is held back
});

test('however much happens in one turn of the loop, no more than a slice is told in it', async () => {
  await using it = await watched();
  for (let i = 0; i < 2000; i++) {
    it.happens();
    await null;
    await null;
  }
  expect(it.told()).toBe(512);
  await new Promise((resolve) => setImmediate(resolve));
  expect(it.told()).toBe(2000);
});
