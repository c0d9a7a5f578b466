// The log store against the least that its work can cost: reading and parsing a file, appending and syncing, holding the bytes. Each
// measurement runs the built code in a process of its own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, type Row } from './report.ts';

const OBJECTS = 100_000;
const WRITES = 40_000;
const WRITERS = 64;

async function measured<T>(file: string, ...args: readonly (string | number)[]): Promise<T> {
  const child = fork(new URL(file, import.meta.url), args.map(String), { execArgv: ['--expose-gc'] });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${file} ${args.join(' ')} ended with ${code}`))),
  ])) as [{ readonly result: T }];
  await ended;
  return message.result;
}

const thrice = async <T>(run: () => Promise<T>): Promise<readonly T[]> => [await run(), await run(), await run()];

export async function storeRows(tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-store-'));
  const data = join(folder, 'data');
  try {
    const { bytes } = await measured<{ bytes: number }>('./store-worker.mjs', 'fill', data, OBJECTS);
    await tellReopening(data, bytes, tell);
    await tellSnapshot(data, tell);
    await tellCommits(folder, tell);
    await tellGrowth(folder, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tellReopening(data: string, bytes: number, tell: (row: Row) => void): Promise<void> {
  const parsing = await thrice(() =>
    measured<{ ms: number }>('./baseline/store-read-parse.mjs', join(data, 'objects.jsonl')),
  );
  const opening = await thrice(() =>
    measured<{ ms: number; rss: number }>('./store-worker.mjs', 'reopen', data, OBJECTS),
  );
  const [ours, bare] = [median(opening.map(({ ms }) => ms)), median(parsing.map(({ ms }) => ms))];
  const rss = median(opening.map((each) => each.rss));
  const mb = (n: number) => `${(n / 1e6).toFixed(0)} MB`;
  tell({
    name: 'reopen 100,000 objects / read and parse',
    ratio: ours / bare,
    bound: { atMost: 3 },
    figures: `${ours.toFixed(0)} ms / ${bare.toFixed(0)} ms`,
  });
  tell({
    name: 'resident memory, 100,000 objects / their bytes',
    ratio: rss / bytes,
    bound: { atMost: 3 },
    figures: `${mb(rss)} / ${mb(bytes)}`,
  });
}

async function tellSnapshot(data: string, tell: (row: Row) => void): Promise<void> {
  const { ms, p99, max } = await measured<{ ms: number; p99: number; max: number }>(
    './store-worker.mjs',
    'snapshot',
    data,
    OBJECTS,
  );
  tell({
    name: 'event loop during a snapshot of 100,000, p99 ms',
    ratio: p99,
    figures: `max ${max.toFixed(1)} ms, snapshot in ${(ms / 1000).toFixed(1)} s`,
  });
}

async function tellCommits(folder: string, tell: (row: Row) => void): Promise<void> {
  const ours = await thrice(() =>
    measured<{ perSecond: number; perSync: number }>('./store-worker.mjs', 'commit', join(folder, 'commit'), WRITES),
  );
  const bare = await thrice(() =>
    measured<{ perSecond: number }>('./baseline/append-sync.mjs', join(folder, 'bare'), WRITES, WRITERS),
  );
  const [own, least] = [median(ours.map((each) => each.perSecond)), median(bare.map((each) => each.perSecond))];
  tell({
    name: 'durable commits, 64 writers / bare append + sync',
    ratio: own / least,
    figures: `${own.toFixed(0)}/s / ${least.toFixed(0)}/s, ${ours[0]!.perSync.toFixed(0)} writes per sync`,
  });
}

async function tellGrowth(folder: string, tell: (row: Row) => void): Promise<void> {
  type Costs = Readonly<Record<'commit' | 'range' | 'since', number>>;
  const at = (count: number) => measured<Costs>('./store-worker.mjs', 'size', join(folder, `size-${count}`), count);
  const [small, large] = [await at(1000), await at(OBJECTS)];
  for (const work of ['commit', 'range', 'since'] as const) {
    tell({
      name: `${work} at 100,000 objects / at 1,000`,
      ratio: large[work] / small[work],
      figures: `${large[work].toFixed(1)} µs / ${small[work].toFixed(1)} µs`,
    });
  }
}
