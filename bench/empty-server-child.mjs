// Starts clusters in memory and prints what one costs.

import { memberKinds } from '../dist/api/kinds.js';
import { newPrivateKey } from '../dist/apiserver/auth/certificates.js';
import { signingKey } from '../dist/apiserver/auth/jwt.js';
import { freshMemoryStore, startCluster } from '../dist/apiserver/start-cluster.js';
import { wallClock } from '../dist/base/clock.js';
import { seededRandom } from '../dist/base/random.js';

const COUNT = 300;
const key = signingKey(newPrivateKey());

async function one(number) {
  const shared = { clock: wallClock, signingKey: key, kinds: memberKinds };
  const running = await startCluster({
    ...shared,
    name: `member-${number}`,
    store: await freshMemoryStore(shared),
    random: seededRandom(number),
    caCertificate: 'CA',
    onError: (error) => {
      throw error;
    },
  });
  await running.settled();
  return running;
}

const heap = () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const kept = [];
for (let i = 0; i < 50; i++) kept.push(await one(i));
const before = heap();
const times = [];
for (let i = 0; i < COUNT; i++) {
  const began = process.hrtime.bigint();
  kept.push(await one(1000 + i));
  times.push(Number(process.hrtime.bigint() - began) / 1e6);
}
const kb = (heap() - before) / COUNT / 1024;
times.sort((a, b) => a - b);
console.log(JSON.stringify({ ms: times[COUNT >> 1], kb, count: COUNT, kept: kept.length }));
