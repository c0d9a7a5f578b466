import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import { byText } from '../../base/compare.ts';
import { type Candidate, filterMembers, judged, picker } from './filter.ts';
import type { Run } from './plugin.ts';
import { profile } from './profile.ts';
import { aMember, NOW, spreads } from './scheduler.testing.ts';

const better = (a: Candidate, b: Candidate): number =>
  b.score.topology - a.score.topology || b.score.obsolete - a.score.obsolete || byText(b.name, a.name);

test('who looks only at the first of those that are alike ranks the same as who looks at all', () => {
  const anyMember = fc.record({
    region: fc.constantFrom('x', 'y', 'z', undefined),
    tier: fc.constantFrom('gold', 'tin', undefined),
    isObsolete: fc.boolean(),
    isPresent: fc.boolean(),
  });
  const anyConstraint = fc.tuple(
    fc.constantFrom('region', 'tier'),
    fc.constantFrom('DoNotSchedule' as const, 'ScheduleAnyway' as const),
    fc.integer({ min: 1, max: 2 }),
  );
  fc.assert(
    fc.property(
      fc.array(anyMember, { maxLength: 12 }),
      fc.array(anyConstraint, { minLength: 1, maxLength: 2 }),
      (setups, constraints) => {
        const all = setups.map((setup, index) => ({ ...setup, name: `m-${index}` }));
        const run: Run = {
          policy: { placementType: 'PickN', ...spreads(...constraints) },
          members: all.map(({ name, region, tier }) =>
            aMember(name, { labels: { ...(region && { region }), ...(tier && { tier }) } }),
          ),
          find: (name) => run.members.find(({ metadata }) => metadata.name === name),
          obsolete: new Set(all.filter(({ isObsolete }) => isObsolete).map(({ name }) => name)),
          now: NOW,
        };
        const panel = filterMembers(run, profile);
        const next = picker(panel, better);
        const present = new Set(all.filter(({ isPresent }) => isPresent).map(({ name }) => name));
        for (let round = 0; round <= all.length; round++) {
          const expected = judged(panel.candidates, panel.round(present)).candidates.toSorted(better);
          for (const count of [1, 3, all.length + 1]) expect(next(present, count)).toEqual(expected.slice(0, count));
          const [found] = expected;
          if (found === undefined) return;
          present.add(found.name);
        }
      },
    ),
    { numRuns: runs(150) },
  );
});
