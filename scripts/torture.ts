// npm run torture [-- ROUNDS [SEED]]: kills a writing process with -9 at random moments, opens what it left, and checks that nothing that was
// visible is gone, that no revision came back with other content, and that nothing reads as damaged. What the system had in its cache
// survives a kill; test/store/crash.test.ts is about what a power loss takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Log, openLog } from '../src/apiserver/store/log.ts';
import { openNodeDisk } from '../src/apiserver/store/node-disk.ts';
import type { Change } from '../src/apiserver/store/store.ts';
import { type Random, seededRandom } from '../src/base/random.ts';

const writer = fileURLToPath(new URL('../test/torture/writer.ts', import.meta.url));

interface Told {
  readonly key: string;
  readonly revision: number;
  /** '-' for a deletion. */
  readonly nonce: string;
}

/** What the killed processes said about one cluster, over all rounds. */
interface Witness {
  readonly latest: Map<string, Told>;
  visible: number;
}

export interface TortureReport {
  readonly rounds: number;
  /** Writes that were told to be visible, and were there. */
  readonly writes: number;
  /** Rounds in which the process died before it had written anything. */
  readonly early: number;
}

/** Throws with the round and the seed at the first broken promise. */
export async function torture(options: {
  readonly rounds: number;
  readonly seed: number;
  readonly tell?: (line: string) => void;
}): Promise<TortureReport> {
  const random = seededRandom(options.seed);
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-torture-'));
  const witnesses = new Map<string, Witness>();
  let writes = 0;
  let early = 0;
  try {
    for (let round = 0; round < options.rounds; round++) {
      const lines = await killedWriter(directory, round, random);
      try {
        const told = heard(lines, witnesses);
        await check(directory, told, witnesses);
        const count = [...told.values()].reduce((sum, list) => sum + list.length, 0);
        writes += count;
        if (count === 0) early++;
        options.tell?.(`round ${round + 1}: ${count} visible writes, all there`);
      } catch (error) {
        throw new Error(`round ${round + 1} of seed ${options.seed}: ${String(error)}`, { cause: error });
      }
    }
    return { rounds: options.rounds, writes, early };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A process is killed after at most so many visible writes and a moment. */
const MAX_WRITES = 600;
/** The writer says first that it has opened each of them. */
const CLUSTERS = 3;
const NEWLINE = 10;

async function killedWriter(directory: string, round: number, random: Random): Promise<readonly string[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', writer, directory, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  const gone = once(child, 'close');
  // Mostly after some hundred writes; now and then when it has just opened the log.
  const writes = random.next() < 0.15 ? 0 : Math.floor(random.next() * MAX_WRITES);
  const isInFullSwing = new Promise<void>((resolve) => {
    let lines = -CLUSTERS;
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      lines += chunk.filter((byte) => byte === NEWLINE).length;
      if (lines >= writes) resolve();
    });
  });
  await Promise.race([isInFullSwing, gone]);
  await sleep(random.next() * 20);
  const ownEnd = child.exitCode;
  child.kill('SIGKILL');
  await gone;
  if (ownEnd !== null) throw new Error(`the writer ended by itself with ${ownEnd}`);
  // The last line may be cut short.
  return Buffer.concat(chunks).toString().split('\n').slice(0, -1);
}

/** Sorts what was said by cluster and holds it against what was said before. */
function heard(lines: readonly string[], witnesses: Map<string, Witness>): ReadonlyMap<string, readonly Told[]> {
  const told = new Map<string, Told[]>();
  for (const line of lines) {
    const [first = '', second = '', third = '', nonce = ''] = line.split(' ');
    if (first === 'open') {
      const witness = witnesses.get(second) ?? { latest: new Map(), visible: 0 };
      witnesses.set(second, witness);
      if (Number(third) < witness.visible) throw new Error(`${second} opened at ${third} after ${witness.visible}`);
      witness.visible = Number(third);
      told.set(second, []);
      continue;
    }
    told.get(first)!.push({ key: second, revision: Number(third), nonce });
  }
  for (const [cluster, list] of told) {
    list.sort((a, b) => a.revision - b.revision);
    const witness = witnesses.get(cluster)!;
    let newest = witness.visible;
    for (const write of list) {
      if (write.revision <= newest) throw new Error(`${cluster} gave revision ${write.revision} after ${newest}`);
      newest = write.revision;
      witness.latest.set(write.key, write);
    }
    witness.visible = newest;
  }
  return told;
}

async function check(
  directory: string,
  told: ReadonlyMap<string, readonly Told[]>,
  witnesses: ReadonlyMap<string, Witness>,
): Promise<void> {
  const log = await openLog({ disk: await openNodeDisk(directory) });
  try {
    for (const [cluster, witness] of witnesses) checkCluster(log, cluster, witness, told.get(cluster) ?? []);
  } finally {
    await log.close();
  }
}

function checkCluster(log: Log, cluster: string, witness: Witness, told: readonly Told[]): void {
  const store = log.store(cluster);
  if (store.visible < witness.visible) {
    throw new Error(`${cluster} is at revision ${store.visible}, and ${witness.visible} was visible`);
  }
  // What was durable when the process died, but not told any more.
  const untold = store.since(witness.visible, '');
  for (const { key, revision, nonce } of witness.latest.values()) {
    const stored = store.get(key);
    const found = stored?.revision ?? 'absent';
    const isThere = nonce === '-' ? stored === undefined : found === revision && nonceOf(stored!.object()) === nonce;
    const isNewer = stored !== undefined && stored.revision > revision;
    const isDeleted =
      stored === undefined && (untold === 'compacted' || untold.some((c) => c.deleted && c.key === key));
    if (!isThere && !isNewer && !isDeleted) {
      throw new Error(`${cluster}${key} was visible at ${revision}, now it is ${found}`);
    }
  }
  // From here on, what was found counts as told.
  witness.latest.clear();
  for (const stored of store.range('').items) {
    const { key, revision } = stored;
    witness.latest.set(key, { key, revision, nonce: nonceOf(stored.object()) });
  }
  witness.visible = store.visible;
  // The history that is left must tell each write as it was told then.
  const newest = told.at(-1)?.revision ?? store.visible;
  let from = newest;
  while (from > 0 && store.since(from - 1, '') !== 'compacted') from--;
  const changes = new Map((store.since(from, '') as readonly Change[]).map((change) => [change.revision, change]));
  for (const { key, revision, nonce } of told) {
    if (revision <= from) continue;
    const change = changes.get(revision);
    const content = change?.deleted === true ? '-' : change && nonceOf(change.stored.object());
    if (change?.key !== key || content !== nonce) {
      throw new Error(`${cluster} told ${key} ${nonce} at ${revision}, and its history ${change?.key} ${content}`);
    }
  }
}

const nonceOf = (object: { readonly [field: string]: unknown }) => (object['data'] as { nonce: string }).nonce;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = Number(process.argv[2] ?? 200);
  const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
  const report = await torture({ rounds, seed, tell: console.log });
  console.log(`${report.rounds} rounds, ${report.writes} visible writes, none lost (seed ${seed})`);
}
