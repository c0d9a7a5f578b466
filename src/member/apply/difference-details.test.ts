import { describe, expect, test } from 'vitest';
import type { FieldDifference } from '../../api/selected-resource.ts';
import type { ManifestCondition } from '../../api/work.ts';
import { differenceDetails } from './difference-details.ts';
import type { Outcome } from './outcome.ts';

const AT = Date.parse('2026-01-01T00:00:10Z');
const FIRST = '2026-01-01T00:00:00Z';
const ONE: FieldDifference = { path: '/data/a', valueInHub: '1', valueInMember: '2' };
const OTHER: FieldDifference = { path: '/data/a', valueInHub: '1', valueInMember: '3' };
const WHOLE: FieldDifference = { path: '/', valueInHub: '(the whole object)' };
const identifier = { ordinal: 0, group: '', version: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'a' };

const entry = (details: Omit<ManifestCondition, 'identifier' | 'conditions'>): ManifestCondition => ({
  identifier,
  conditions: [],
  ...details,
});

describe('drift details', () => {
  const reportedAt = (observationTime: string, generation = 3) =>
    entry({
      driftDetails: {
        observationTime,
        observedInMemberClusterGeneration: generation,
        firstDriftedObservedTime: FIRST,
        observedDrifts: [ONE],
      },
    });
  const of = (drift: FieldDifference | undefined, previous?: ManifestCondition, now = AT, generation = 3) => {
    const outcome: Outcome = { identifier, generation, uid: 'u', ...(drift === undefined ? {} : { drifts: [drift] }) };
    return differenceDetails(outcome, previous, now).driftDetails;
  };

  test('begin with both times equal', () => {
    expect(of(ONE)).toEqual({
      observationTime: '2026-01-01T00:00:10Z',
      observedInMemberClusterGeneration: 3,
      firstDriftedObservedTime: '2026-01-01T00:00:10Z',
      observedDrifts: [ONE],
    });
  });

  test.each([
    { it: 'ten seconds before', last: '2026-01-01T00:00:00Z', now: AT, observed: '2026-01-01T00:00:10Z' },
    { it: 'in the same second', last: '2026-01-01T00:00:10Z', now: AT + 999, observed: '2026-01-01T00:00:11Z' },
    {
      it: 'less than a second before, across a full second',
      last: '2026-01-01T00:00:10Z',
      now: AT + 1000,
      observed: '2026-01-01T00:00:11Z',
    },
    // Three different reports within one second: the last one has a time in the future.
    { it: 'ahead of the clock', last: '2026-01-01T00:00:12Z', now: AT, observed: '2026-01-01T00:00:13Z' },
  ])('that replace others, observed $it, are one whole second younger and keep the first time', (each) => {
    expect(of(OTHER, reportedAt(each.last), each.now)).toEqual({
      observationTime: each.observed,
      observedInMemberClusterGeneration: 3,
      firstDriftedObservedTime: FIRST,
      observedDrifts: [OTHER],
    });
  });

  test('that are equal stay as they are, however late it is', () => {
    const previous = reportedAt(FIRST);
    expect(of(ONE, previous, AT + 86_400_000)).toBe(previous.driftDetails);
  });

  test('of another generation of the object are others', () => {
    expect(of(ONE, reportedAt(FIRST), AT, 4)).toMatchObject({
      observationTime: '2026-01-01T00:00:10Z',
      observedInMemberClusterGeneration: 4,
      firstDriftedObservedTime: FIRST,
    });
  });

  test('end with the drift, and the next drift has its own first time', () => {
    expect(of(undefined, reportedAt(FIRST))).toBeUndefined();
    expect(of(ONE, entry({}))).toMatchObject({ firstDriftedObservedTime: '2026-01-01T00:00:10Z' });
  });
});

describe('diff details', () => {
  const of = (diff: FieldDifference, previous?: ManifestCondition, more: Partial<Outcome> = {}, now = AT) =>
    differenceDetails({ identifier, generation: 0, diffs: [diff], ...more }, previous, now).diffDetails;
  const present = { generation: 7, uid: 'u' };

  test.each([
    { it: 'an object that exists', diff: ONE, more: present, generation: 7 },
    { it: 'an object of a kind without generations', diff: ONE, more: { generation: 0, uid: 'u' }, generation: 0 },
    { it: 'an object that was there before and is not ours', diff: ONE, more: { generation: 7 }, generation: 7 },
    { it: 'an object that does not exist', diff: WHOLE, more: {}, generation: undefined },
  ])('of $it name its generation: $generation', ({ diff, more, generation }) => {
    const details = of(diff, undefined, more);
    expect(details).toEqual({
      observationTime: '2026-01-01T00:00:10Z',
      ...(generation === undefined ? {} : { observedInMemberClusterGeneration: generation }),
      firstDiffedObservedTime: '2026-01-01T00:00:10Z',
      observedDiffs: [diff],
    });
    expect(Object.hasOwn(details ?? {}, 'observedInMemberClusterGeneration')).toBe(generation !== undefined);
  });

  test('of an absent object stay as they are until it exists, which is another report of the same difference', () => {
    const diffDetails = { observationTime: FIRST, firstDiffedObservedTime: FIRST, observedDiffs: [WHOLE] };
    expect(of(WHOLE, entry({ diffDetails }), {}, AT + 86_400_000)).toBe(diffDetails);
    expect(of(ONE, entry({ diffDetails }), present, Date.parse(FIRST))).toEqual({
      observationTime: '2026-01-01T00:00:01Z',
      observedInMemberClusterGeneration: 7,
      firstDiffedObservedTime: FIRST,
      observedDiffs: [ONE],
    });
  });
});
