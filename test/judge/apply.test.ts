// Generated sequences of creations, applies, updates and patches by several managers, played on an object of ours, its status and its scale, and on those
// of a real server: after each the two objects are equal with who owns what, or both were refused for the same conflicts.
import { describe, expect, inject, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { APPLIED_KINDS, type AppliedKind, collectionOf, definition } from './generated/applied-kinds.ts';
import { eachOf, startBoth } from './generated/both.ts';
import { drawn } from './generated/drawn.ts';
import { type Played, playSequence } from './generated/sequence.ts';

const { first: FIRST, count: SEQUENCES } = drawn(process.env['KUBE_JUDGE_APPLIES'], 2_000);
const LENGTH = 8;
const AT_ONCE = 8;

const judge = inject('judge');

describe.skipIf(judge === undefined)('generated applies', () => {
  test('and updates, patches, statuses and scales make the same objects with the same owners, or meet the same conflicts', {
    timeout: patience(1_800_000),
  }, async () => {
    await using both = await startBoth(judge!);
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await both.ask({ path: definitions, body: definition });
    const custom = APPLIED_KINDS.find(({ isCustom }) => isCustom) as AppliedKind;
    const isThere = async () => {
      const { ours, real } = await both.ask({
        path: collectionOf(custom, custom.versions.at(-1) as string, both.namespace),
      });
      return ours.code === 200 && real.code === 200;
    };
    while (!(await isThere()));
    const played: Played[] = [];
    const seeds = Array.from({ length: SEQUENCES }, (_, index) => FIRST + index);
    try {
      await eachOf(seeds, AT_ONCE, async (seed) => {
        played.push(await playSequence(both, seed, LENGTH));
      });
    } finally {
      await both.ask({ method: 'DELETE', path: `${definitions}/${definition.metadata.name}`, body: {} });
    }
    const sum = (part: 'applied' | 'refused') => played.reduce((total, each) => total + each[part], 0);
    const wrong = played.flatMap((each) => (each.wrong ? [each.wrong] : []));
    console.log(
      `from seed ${FIRST} on ${sum('applied')} generated writes taken, ${sum('refused')} refused; ${wrong.length} of ${played.length} sequences differ`,
    );
    expect(wrong).toEqual([]);
    expect(sum('applied')).toBeGreaterThan((SEQUENCES * LENGTH) / 3);
    expect(sum('refused')).toBeGreaterThan((SEQUENCES * LENGTH) / 20);
  });
});
