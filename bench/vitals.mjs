// Loaded into every process of a fleet with --import: on SIGUSR2 it writes how it is to a file of its own, and counts the event loop's delay anew.
import { renameSync, writeFileSync } from 'node:fs';
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

process.on('SIGUSR2', () => {
  // Before the collection below, which is a delay of the bench's own making.
  const cpuMs = cpu();
  const loop = { p99: lag(delay.percentile(99)), max: lag(delay.max) };
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const vitals = { loop, rss, heap: heapUsed + external, cpuMs, collectMs: cpu() - cpuMs };
  const file = join(process.env.FLOTILLA_BENCH_FOLDER, `${process.pid}.json`);
  writeFileSync(`${file}.part`, JSON.stringify(vitals));
  renameSync(`${file}.part`, file);
  // The collection shows as a delay when the loop turns next.
  setTimeout(() => delay.reset(), 3 * RESOLUTION_MS);
});
