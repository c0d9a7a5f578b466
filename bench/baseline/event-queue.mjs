// The least that a world which can be replayed does per event: a seed picks it, it goes into a hash, it runs, and everything that needs no
// timer is done before the next one. node event-queue.mjs ACTORS STEPS
import { createHash } from 'node:crypto';

const [actors, steps] = process.argv.slice(2).map(Number);

let state = 1;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

const heap = [];
function add(at, run, text) {
  let index = heap.push(undefined) - 1;
  for (; index > 0; ) {
    const parent = (index - 1) >> 1;
    if (heap[parent].at <= at) break;
    heap[index] = heap[parent];
    index = parent;
  }
  heap[index] = { at, run, text };
}
function take() {
  const first = heap[0];
  const last = heap.pop();
  if (heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1].at < heap[child].at) child++;
    if (heap[child].at >= last.at) break;
    heap[index] = heap[child];
    index = child;
  }
  heap[index] = last;
  return first;
}

const ready = [];
const hash = createHash('sha256');
let now = 0;
for (let i = 0; i < actors; i++) {
  const tick = () => {
    add(now + Math.ceil(random() * 1000), () => Promise.resolve().then(tick), `actor-${i} timer tick`);
  };
  tick();
}
const began = process.cpuUsage();
for (let step = 0; step < steps; step++) {
  if (ready.length === 0) now = heap[0].at;
  while (heap.length > 0 && heap[0].at <= now) ready.push(take());
  const index = Math.floor(random() * ready.length);
  const event = ready[index];
  ready[index] = ready[ready.length - 1];
  ready.pop();
  hash.update(`${step} +${now}ms ${event.text}\n`);
  event.run();
  await new Promise((resolve) => process.nextTick(resolve));
}
const { user, system } = process.cpuUsage(began);
const ms = (user + system) / 1000;
process.send({ result: { perSecond: (steps / ms) * 1000, hash: hash.digest('hex') } });
