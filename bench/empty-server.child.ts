// Starts clusters in memory and prints what one costs.

import { memberKinds } from '../src/api/kinds.ts';
import { newPrivateKey } from '../src/apiserver/auth/certificates.ts';
import { signingKey } from '../src/apiserver/auth/jwt.ts';
import { startCluster } from '../src/apiserver/start-cluster.ts';
import { createMemoryStore } from '../src/apiserver/store/memory.ts';
import { wallClock } from '../src/base/clock.ts';
import { seededRandom } from '../src/base/random.ts';

const COUNT = 300;
const key = signingKey(newPrivateKey());

async function one(number: number) {
  const running = await startCluster({
    name: `member-${number}`,
    store: createMemoryStore(),
    clock: wallClock,
    random: seededRandom(number),
    signingKey: key,
    caCertificate: 'CA',
    kinds: memberKinds,
    onError: (error) => {
      throw error;
    },
  });
  await running.settled();
  return running;
}

const heap = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const kept: unknown[] = [];
for (let i = 0; i < 50; i++) kept.push(await one(i));
const before = heap();
const times: number[] = [];
for (let i = 0; i < COUNT; i++) {
  const began = process.hrtime.bigint();
  kept.push(await one(1000 + i));
  times.push(Number(process.hrtime.bigint() - began) / 1e6);
}
const kb = (heap() - before) / COUNT / 1024;
times.sort((a, b) => a - b);
console.log(JSON.stringify({ ms: times[COUNT >> 1], kb, count: COUNT, kept: kept.length }));
