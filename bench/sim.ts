// Simulated worlds against the least that a replayable event queue costs, what a new world costs, and whether a step costs more in a larger
// world or a longer run. Each measurement runs in a process of its own and counts that process's processor time.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median, type Row } from './report.ts';

const STEPS = 100_000;
const NEW_WORLD_MS = 1;

async function measured<T>(file: string, ...args: readonly (string | number)[]): Promise<T> {
  const child = fork(new URL(file, import.meta.url), args.map(String), {
    execArgv: file.endsWith('sim-worker.mjs') ? ['--import', 'tsx'] : [],
  });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${file} ${args.join(' ')} ended with ${code}`))),
  ])) as [{ readonly result: T }];
  await ended;
  return message.result;
}

interface Rate {
  readonly perSecond: number;
}

/** Rounds of the two alternate, so that what else the machine does falls on both. */
async function alternating(ours: () => Promise<Rate>, theirs: () => Promise<Rate>) {
  const rounds: { readonly own: number; readonly other: number }[] = [];
  for (let round = 0; round < 5; round++) {
    rounds.push({ own: (await ours()).perSecond, other: (await theirs()).perSecond });
  }
  return {
    ratio: median(rounds.map(({ own, other }) => own / other)),
    own: median(rounds.map(({ own }) => own)),
    other: median(rounds.map(({ other }) => other)),
  };
}

const world = (actors: number, steps: number) => () => measured<Rate>('./sim-worker.mjs', 'ticking', actors, steps);
const bare = () => measured<Rate>('./baseline/event-queue.mjs', 100, STEPS);
const rate = (perSecond: number) => `${perSecond.toFixed(0)}/s`;

export async function rows(tell: (row: Row) => void): Promise<void> {
  const { ratio, own, other } = await alternating(world(100, STEPS), bare);
  tell({
    name: 'steps of a world of timers / bare seeded queue',
    ratio,
    bound: { atLeast: 0.25 },
    figures: `${rate(own)} / ${rate(other)}`,
  });
  const grown = await alternating(world(1000, STEPS), world(10, STEPS));
  tell({
    name: 'steps with 1,000 actors / with 10',
    ratio: grown.ratio,
    bound: { atLeast: 0.5 },
    figures: `${rate(grown.own)} / ${rate(grown.other)}`,
  });
  const long = await alternating(world(100, 5 * STEPS), world(100, STEPS / 2));
  tell({
    name: 'steps in a run of 500,000 / of 50,000',
    ratio: long.ratio,
    bound: { atLeast: 0.8 },
    figures: `${rate(long.own)} / ${rate(long.other)}`,
  });
  const { ms } = await measured<{ ms: number }>('./sim-worker.mjs', 'new-world', 200);
  tell({
    name: 'a new world with a hub, ms of 1 ms',
    ratio: ms / NEW_WORLD_MS,
    bound: { atMost: 1 },
    figures: `${ms.toFixed(2)} ms, mean of 200`,
  });
  for (const [name, runs] of [
    ['ledger', 100],
    ['copies', 100],
    ['turns', 60],
    ['membership', 20],
    ['two-leaders', 20],
  ] as const) {
    const { steps, runs: perSecond } = await measured<{ steps: number; runs: number }>(
      './sim-worker.mjs',
      'scenario',
      name,
      runs,
    );
    tell({
      name: `steps of ${name} / bare seeded queue`,
      ratio: steps / other,
      figures: `${rate(steps)}, ${perSecond.toFixed(1)} runs/s, ${(1000 / perSecond).toFixed(0)} ms per run`,
    });
  }
}
