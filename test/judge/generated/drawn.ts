// Which seeds of generated objects and patches are played. The full proof plays seeds 1 to 1,000 (applies: 2,000); the gate plays a hundred of these, which
// change with the commit, so a red gate is the doing of the change and not of a seed that was never played before.
import { isFull, testSeed } from '../../../scripts/gate/depth.ts';

export interface Range {
  readonly first: number;
  readonly count: number;
}

const PROVEN = 1_000;
const AT_THE_GATE = 100;

/** `asked` is how many, by the environment; KUBE_JUDGE_SEED is the first of them. */
export function drawn(asked: string | undefined, proven = PROVEN): Range {
  const first = process.env['KUBE_JUDGE_SEED'];
  if (asked !== undefined || first !== undefined) return { first: Number(first ?? 1), count: Number(asked ?? proven) };
  return isFull ? { first: 1, count: proven } : windowOf(testSeed, proven);
}

export const windowOf = (seed: number, proven = PROVEN): Range => ({
  first: 1 + AT_THE_GATE * (seed % (proven / AT_THE_GATE)),
  count: AT_THE_GATE,
});
