// Generated sequences of applies and patches by several managers, played on an object of ours and on one of a real server: after each the two are equal
// with who owns what, or both were refused for the same conflicts.
import { describe, expect, inject, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { canonicalJson, isObject } from '../../src/base/json.ts';
import { disagreement } from './generated/agree.ts';
import { APPLIED_KINDS, definition, generateWrite } from './generated/applies.ts';
import { type Both, eachOf, startBoth } from './generated/both.ts';
import { diceOf } from './generated/dice.ts';
import { drawn } from './generated/drawn.ts';
import type { Reply } from './server.ts';

const { first: FIRST, count: SEQUENCES } = drawn(process.env['KUBE_JUDGE_APPLIES'], 2_000);
const LENGTH = 6;
const AT_ONCE = 8;

const judge = inject('judge');

/** The owners without their times, but with whether they have one. */
function ownersIn({ text }: Reply): readonly string[] {
  const body: unknown = JSON.parse(text);
  const metadata = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
  const entries = Array.isArray(metadata['managedFields']) ? (metadata['managedFields'] as unknown[]) : [];
  return entries
    .map((entry) => canonicalJson(isObject(entry) && 'time' in entry ? { ...entry, time: 'TIME' } : entry))
    .toSorted();
}

interface Played {
  readonly seed: number;
  readonly applied: number;
  readonly refused: number;
  readonly wrong?: object;
}

async function play(both: Both, seed: number): Promise<Played> {
  const dice = diceOf(seed);
  const kind = dice.pick(APPLIED_KINDS);
  const name = `o-${seed}`;
  const at = `${kind.path(both.namespace)}/${name}`;
  const count = { applied: 0, refused: 0 };
  try {
    for (let step = 0; step < LENGTH; step++) {
      const { type, query, body } = generateWrite(dice, kind, name);
      const { ours, real } = await both.ask({
        method: 'PATCH',
        path: `${at}?${query}`,
        type,
        body: JSON.stringify(body),
      });
      const differs = disagreement(ours, real);
      const [mine, theirs] = [ownersIn(ours), ownersIn(real)];
      if (differs.length > 0 || canonicalJson(mine) !== canonicalJson(theirs)) {
        return { seed, ...count, wrong: { seed, step, type, query, body, differs, mine, theirs } };
      }
      if (real.code < 300) count.applied++;
      else count.refused++;
    }
    return { seed, ...count };
  } finally {
    await both.ask({ method: 'DELETE', path: at, body: {} });
  }
}

describe.skipIf(judge === undefined)('generated applies', () => {
  test('make the same objects with the same owners, or meet the same conflicts', {
    timeout: patience(1_800_000),
  }, async () => {
    await using both = await startBoth(judge!);
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await both.ask({ path: definitions, body: definition });
    const isThere = async () => {
      const { ours, real } = await both.ask({ path: APPLIED_KINDS.at(-1)?.path(both.namespace) as string });
      return ours.code === 200 && real.code === 200;
    };
    while (!(await isThere()));
    const played: Played[] = [];
    const seeds = Array.from({ length: SEQUENCES }, (_, index) => FIRST + index);
    try {
      await eachOf(seeds, AT_ONCE, async (seed) => {
        played.push(await play(both, seed));
      });
    } finally {
      await both.ask({ method: 'DELETE', path: `${definitions}/${definition.metadata.name}`, body: {} });
    }
    const sum = (part: 'applied' | 'refused') => played.reduce((total, each) => total + each[part], 0);
    const wrong = played.flatMap((each) => (each.wrong ? [each.wrong] : []));
    console.log(
      `from seed ${FIRST} on ${sum('applied')} generated applies and patches taken, ${sum('refused')} refused; ${wrong.length} of ${played.length} sequences differ`,
    );
    expect(wrong).toEqual([]);
    expect(sum('applied')).toBeGreaterThan((SEQUENCES * LENGTH) / 3);
    expect(sum('refused')).toBeGreaterThan((SEQUENCES * LENGTH) / 20);
  });
});
