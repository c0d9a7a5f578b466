// Loaded into every process of a fleet with --import: on SIGUSR2 it writes how it is to a file of its own, and counts the event loop's delay anew.
import { readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
const lag = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

// What goes into the log, and into the snapshots that shorten it: known by the file's name, which is asked for once.
const bytes = { log: 0, snapshots: 0 };
const heaps = new WeakMap();
const some = await open('/dev/null');
const file = Object.getPrototypeOf(some);
await some.close();
const heapOf = (handle) => {
  const known = heaps.get(handle);
  if (known !== undefined) return known;
  const heap = readlinkSync(`/proc/self/fd/${handle.fd}`).includes('snapshot-') ? 'snapshots' : 'log';
  heaps.set(handle, heap);
  return heap;
};
const { write } = file;
file.write = function (...args) {
  if (process.platform === 'linux' && typeof args[2] === 'number') bytes[heapOf(this)] += args[2];
  return write.apply(this, args);
};
/** All that the process has written, to files, sockets and pipes; 0 where nobody counts. */
const written = () => {
  if (process.platform !== 'linux') return 0;
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
};

process.on('SIGUSR2', () => {
  const sent = Math.max(0, written() - bytes.log - bytes.snapshots);
  // Before the collection below, which is a delay of the bench's own making.
  const cpuMs = cpu();
  const loop = { p99: lag(delay.percentile(99)), max: lag(delay.max) };
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const most = process.resourceUsage().maxRSS * 1024;
  const vitals = {
    loop,
    rss,
    most,
    heap: heapUsed + external,
    cpuMs,
    collectMs: cpu() - cpuMs,
    bytes: { ...bytes, sent },
  };
  const told = join(process.env.FLOTILLA_BENCH_FOLDER, `${process.pid}.json`);
  writeFileSync(`${told}.part`, JSON.stringify(vitals));
  renameSync(`${told}.part`, told);
  // The collection shows as a delay when the loop turns next.
  setTimeout(() => delay.reset(), 3 * RESOLUTION_MS);
});
