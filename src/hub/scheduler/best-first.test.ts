import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bestFirst } from './best-first.ts';
import type { Candidate } from './filter.ts';

test('reads like a sorted list, in whatever order places are asked for', () => {
  const order = (a: Candidate, b: Candidate) => b.score.affinity - a.score.affinity || (a.name < b.name ? -1 : 1);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 }), fc.array(fc.nat(45)), (scores, places) => {
      const all = scores.map((affinity, at) => ({ name: `c${at}`, score: { affinity } }) as Candidate);
      const nth = bestFirst([...all], order);
      const sorted = all.toSorted(order);
      for (const at of places) expect(nth(at)).toBe(sorted[at]);
    }),
  );
});
