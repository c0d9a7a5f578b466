import { describe, expect, test } from 'vitest';
import { aMember, NOW } from '../scheduler.testing.ts';
import { placingOf, topologySpread } from './topology-spread.ts';

describe('one more pick in a domain', () => {
  test.each([
    { counts: [0, 0, 0], maxSkew: 1, into: 0, change: 1, isViolated: false },
    { counts: [1, 0, 0], maxSkew: 1, into: 0, change: 0, isViolated: false },
    { counts: [1, 0, 0], maxSkew: 1, into: 1, change: 1, isViolated: true },
    { counts: [1, 1, 0], maxSkew: 1, into: 0, change: -1, isViolated: false },
    { counts: [3, 0, 0], maxSkew: 1, into: 0, change: 0, isViolated: true },
    { counts: [3, 1], maxSkew: 1, into: 1, change: -1, isViolated: false },
    { counts: [4, 1], maxSkew: 1, into: 1, change: -1, isViolated: true },
    { counts: [2], maxSkew: 1, into: 2, change: 1, isViolated: false },
    { counts: [2, 1, 0], maxSkew: 2, into: 1, change: 0, isViolated: false },
    { counts: [2, 1, 0], maxSkew: 2, into: 2, change: 1, isViolated: true },
  ])('of $counts into $into with skew $maxSkew: $change', ({ counts, into, maxSkew, change, isViolated }) => {
    expect(placingOf(counts, into, maxSkew)).toEqual({ change, isViolated });
    expect(placingOf(counts.toReversed(), into, maxSkew)).toEqual({ change, isViolated });
  });
});

describe('a cluster without the label', () => {
  const members = [aMember('a', { labels: { region: 'x' } }), aMember('b')];
  const judge = topologySpread
    .prepare({
      policy: {
        placementType: 'PickN',
        topologySpreadConstraints: [{ topologyKey: 'region', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
      },
      members,
      find: (name) => members.find(({ metadata }) => metadata.name === name),
      obsolete: new Set(),
      now: NOW,
    })
    ?.round?.(new Set(['a', 'b']));

  test('is no part of the spread: it never violates and adds nothing', () => {
    expect(judge?.filter?.(members[1] as never)).toEqual({ is: 'pass' });
    expect(judge?.score?.(members[1] as never)).toEqual({ topology: 0 });
    expect(judge?.score?.(members[0] as never)).toEqual({ topology: -1 });
  });
});
