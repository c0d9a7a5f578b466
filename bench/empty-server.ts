// What an empty cluster costs in a process that already has one: a thousand members and every simulated world pay it.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Row } from './report.ts';

const MAX_MS = 1;
const MAX_KB = 150;

export async function emptyServerRows(tell: (row: Row) => void): Promise<void> {
  const file = fileURLToPath(new URL('./empty-server-child.mjs', import.meta.url));
  const child = spawnSync(process.execPath, ['--expose-gc', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { ms, kb, count } = JSON.parse(child.stdout) as { ms: number; kb: number; count: number };
  tell({
    name: 'an empty in-process server, time',
    ratio: ms / MAX_MS,
    bound: { atMost: 1 },
    figures: `${ms.toFixed(2)} ms of 1 ms, median of ${count}`,
  });
  tell({
    name: 'an empty in-process server, memory',
    ratio: kb / MAX_KB,
    bound: { atMost: 1 },
    figures: `${kb.toFixed(0)} KB of 150 KB, mean of ${count}`,
  });
}
