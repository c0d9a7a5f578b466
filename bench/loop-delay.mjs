// Loaded into a server with --import: answers { ask: 'loop' } over IPC with the event-loop delay since the last question, in ms, and memory.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on('message', (message) => {
  if (message?.ask !== 'loop') return;
  globalThis.gc?.();
  process.send({
    loop: { p99: delay.percentile(99) / 1e6 - 5, max: delay.max / 1e6 - 5 },
    memory: process.memoryUsage(),
  });
  delay.reset();
});
process.channel?.unref();
