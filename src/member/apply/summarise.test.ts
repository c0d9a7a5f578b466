import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WorkStatus } from '../../api/work.ts';
import type { Verdict } from '../availability/verdict.ts';
import { ordersOf } from './manifest.ts';
import type { Outcome } from './outcome.ts';
import { MAX_WORK_BYTES, summarise, withinSize, writeAhead } from './summarise.ts';

const AT = Date.parse('2026-01-01T00:00:00Z');
const id = (ordinal: number) => ({
  ordinal,
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name: `c${ordinal}`,
  resource: 'configmaps',
});
const ok = (ordinal: number, verdict: Verdict = { is: 'available' }): Outcome => ({
  identifier: id(ordinal),
  verdict,
  generation: 3,
  uid: `u${ordinal}`,
});
const bad = (ordinal: number): Outcome => ({
  identifier: id(ordinal),
  refusal: { reason: 'ManifestApplyFailed', message: `c${ordinal} is bad` },
  generation: 0,
});
const wait: Verdict = { is: 'not-yet', why: 'it waits' };
const blind: Verdict = { is: 'untracked' };

const said = (status: WorkStatus) =>
  (status.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is}/${reason}`).join(' ');
const summary = (outcomes: readonly Outcome[], previous?: WorkStatus, now = AT) =>
  summarise({ outcomes, previous, generation: 5, now });

describe('the status of a Work', () => {
  test.each([
    {
      it: 'nothing was ordered',
      outcomes: [],
      says: 'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable',
    },
    {
      it: 'all is well',
      outcomes: [ok(0), ok(1)],
      says: 'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable',
    },
    {
      it: 'one waits',
      outcomes: [ok(0), ok(1, wait), ok(2, blind)],
      says: 'Applied=True/AllManifestsApplied Available=False/SomeManifestsAreNotAvailable',
    },
    {
      it: 'one has given up',
      outcomes: [ok(0), ok(1, { is: 'failed', why: 'it broke' })],
      says: 'Applied=True/AllManifestsApplied Available=False/SomeManifestsAreNotAvailable',
    },
    {
      it: 'one cannot be tracked',
      outcomes: [ok(0), ok(1, blind)],
      says: 'Applied=True/AllManifestsApplied Available=True/WorkNotTrackable',
    },
    { it: 'one failed', outcomes: [ok(0), bad(1), ok(2, wait)], says: 'Applied=False/SomeManifestsAreNotApplied' },
  ])('if $it: $says', ({ outcomes, says }) => expect(said(summary(outcomes))).toBe(says));

  test('speaks of the generation of the Work, and of each object’s own', () => {
    const status = summary([ok(0), bad(1)]);
    expect(status.conditions?.map((each) => each.observedGeneration)).toEqual([5]);
    expect(
      status.manifestConditions?.map(({ conditions }) => conditions?.map((each) => each.observedGeneration)),
    ).toEqual([[3, 3], [0]]);
  });

  test('tells what has given up from what is only not there yet', () => {
    const { manifestConditions = [] } = summary([ok(0, wait), ok(1, { is: 'failed', why: 'it broke' })]);
    expect(manifestConditions.map(({ conditions }) => conditions.at(-1))).toMatchObject([
      { type: 'Available', status: 'False', reason: 'ManifestNotAvailableYet' },
      {
        type: 'Available',
        status: 'False',
        reason: 'Failed',
        message: 'ConfigMap "shop/c1" is not available: it broke',
      },
    ]);
  });

  test('says the numbers of the moment when it gave up, and no others after that', () => {
    const gaveUp = (detail: string, why = 'it broke'): Outcome => ok(0, { is: 'failed', why, detail });
    const messageIn = (status: WorkStatus) => status.manifestConditions?.[0]?.conditions.at(-1)?.message;
    const first = summary([gaveUp('1 of 2')], summary([ok(0, wait)]));
    expect(messageIn(first)).toBe('ConfigMap "shop/c0" is not available: it broke: 1 of 2');
    expect(summary([gaveUp('0 of 2')], first)).toEqual(first);
    expect(messageIn(summary([gaveUp('0 of 2', 'it hangs')], first))).toContain('it hangs: 0 of 2');
    const again = summary([{ ...gaveUp('0 of 2'), generation: 4 }], first);
    expect(messageIn(again)).toContain('it broke: 0 of 2');
  });

  test('says of what is applied only what there is to note, and keeps its stamp', () => {
    const appliedIn = (status: WorkStatus) => status.manifestConditions?.[0]?.conditions[0];
    const first = summary([ok(0)]);
    const noted = summary([{ ...ok(0), note: 'it is put back soon' }], first, AT + 60_000);
    expect(appliedIn(noted)).toEqual({ ...appliedIn(first), message: 'it is put back soon' });
    expect(noted.conditions).toEqual(first.conditions);
    expect(summary([ok(0)], noted, AT + 120_000)).toEqual(first);
  });

  test('names what failed and what waits, a few of them', () => {
    expect(summary([ok(0), bad(1)]).conditions?.[0]?.message).toBe('1 of 2 manifests are not applied: c1 is bad');
    expect(summary([0, 1, 2, 3, 4].map((n) => ok(n, wait))).conditions?.[1]?.message).toBe(
      'not available yet: ConfigMap "shop/c0", ConfigMap "shop/c1", ConfigMap "shop/c2" and 2 more',
    );
  });

  test('has no word on availability while something is not applied, and none of a mode that ended', () => {
    const before: WorkStatus = {
      conditions: ['Available', 'DiffReported', 'Strange'].map((type) => ({
        type,
        status: 'True' as const,
        reason: 'R',
        message: '',
        lastTransitionTime: 't',
      })),
    };
    expect(said(summary([bad(0)], before))).toBe('Applied=False/SomeManifestsAreNotApplied Strange=True/R');
  });

  test('keeps its stamps until a status turns, whatever place a manifest moves to', () => {
    const first = summary([ok(0), ok(1, wait)]);
    const later = summary([{ ...ok(1), identifier: { ...id(1), ordinal: 0 } }], first, AT + 60_000);
    expect(later.manifestConditions?.[0]?.conditions?.map((each) => each.lastTransitionTime)).toEqual([
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:01:00Z',
    ]);
  });

  test('is the same when nothing has changed', () => {
    const outcome = fc.oneof(
      fc.nat(5).map((n) => ok(n)),
      fc.nat(5).map((n) => ok(n, wait)),
      fc.nat(5).map((n) => ok(n, blind)),
      fc.nat(5).map(bad),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(outcome, { selector: (each) => each.identifier.ordinal }),
        fc.nat(1e9),
        (outcomes, later) => {
          const once = summary(outcomes);
          expect(summary(outcomes, once, AT + later)).toEqual(once);
        },
      ),
    );
  });

  test('that would make the Work too large is cut, and says so', () => {
    const outcomes = Array.from(
      { length: 2000 },
      (_, n): Outcome => ({ ...bad(n), refusal: { reason: 'ManifestApplyFailed', message: 'x'.repeat(1000) } }),
    );
    const status = summary(outcomes);
    const context = { previous: undefined, generation: 5, now: AT };
    const cut = withinSize(status, () => 400_000, context);
    expect(Buffer.byteLength(JSON.stringify(cut)) + 400_000).toBeLessThan(MAX_WORK_BYTES);
    expect(said(cut)).toContain('StatusTrimmed=True/Oversized');
    expect(cut.manifestConditions).toHaveLength(2000);
    expect(withinSize(summary([ok(0)]), () => 1e9, context)).toEqual(summary([ok(0)]));
  });

  describe('that would make the Work too large', () => {
    const COUNT = 1000;
    const context = { previous: undefined, generation: 5, now: AT };
    const fields = (at: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        path: `/data/k${n}`,
        valueInHub: `${at} ${'h'.repeat(400)}`,
        valueInMember: `${at} ${'m'.repeat(400)}`,
      }));
    const many = (more: (at: number) => Partial<Outcome>) =>
      Array.from({ length: COUNT }, (_, at): Outcome => ({ ...ok(at), ...more(at) }));
    const cutOf = (status: WorkStatus) => {
      expect(Buffer.byteLength(JSON.stringify(status))).toBeGreaterThan(MAX_WORK_BYTES);
      const cut = withinSize(status, () => 400_000, context);
      expect(Buffer.byteLength(JSON.stringify(cut)) + 400_000).toBeLessThan(MAX_WORK_BYTES);
      expect(said(cut)).toContain('StatusTrimmed=True/Oversized');
      expect(cut.manifestConditions).toHaveLength(COUNT);
      expect(cut.manifestConditions?.map(({ identifier }) => identifier)).toEqual(
        status.manifestConditions?.map(({ identifier }) => identifier),
      );
      return cut.manifestConditions ?? [];
    };
    const omitted = (path: string) => [{ path, valueInHub: '(omitted)', valueInMember: '(omitted)' }];

    test('has one entry in place of each list of drifts, with the times of the list', () => {
      const status = summary(many((at) => ({ drifts: fields(at, 2 + (at % 2)) })));
      for (const [at, { driftDetails }] of cutOf(status).entries())
        expect(driftDetails).toEqual({
          observationTime: '2026-01-01T00:00:00Z',
          observedInMemberClusterGeneration: 3,
          firstDriftedObservedTime: '2026-01-01T00:00:00Z',
          observedDrifts: omitted(`/data/k0 and ${at % 2 === 0 ? '1 more path(s)' : '2 more path(s)'}`),
        });
    });

    test('has one entry in place of each list of differences, which names a single path alone', () => {
      const lists = many((at) => ({ diffs: fields(at, at === 0 ? 1 : 3) }));
      const status = summarise({ outcomes: lists, isReport: true, previous: undefined, generation: 5, now: AT });
      const [first, second] = cutOf(status);
      expect(first?.diffDetails?.observedDiffs).toEqual(omitted('/data/k0'));
      expect(second?.diffDetails).toEqual({
        observationTime: '2026-01-01T00:00:00Z',
        observedInMemberClusterGeneration: 3,
        firstDiffedObservedTime: '2026-01-01T00:00:00Z',
        observedDiffs: omitted('/data/k0 and 2 more path(s)'),
      });
      expect(first?.conditions.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['DiffReported FoundDiff']);
    });

    test('has no mirrored status, and all conditions', () => {
      const observedStatus = { apiVersion: 'apps/v1', kind: 'Deployment', status: { note: 's'.repeat(2000) } };
      const status = summary(many(() => ({ observedStatus })));
      expect(status.manifestConditions?.[0]?.backReportedStatus?.observedStatus).toEqual(observedStatus);
      for (const [at, entry] of cutOf(status).entries()) {
        expect(entry).not.toHaveProperty('backReportedStatus');
        expect(entry).toEqual({
          identifier: id(at),
          conditions: status.manifestConditions?.[at]?.conditions,
        });
      }
    });
  });
});

describe('before anything is touched, a Work says what will be', () => {
  const orders = ordersOf([
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c1', namespace: 'shop' } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new', namespace: 'shop' } },
    'nonsense',
  ]);
  test('what was known as it was, what is new as about to come, nothing of what cannot be read', () => {
    const before = summary([ok(0), ok(1)]);
    const ahead = writeAhead(orders, before, AT + 1000);
    expect(
      ahead.map(({ identifier, conditions }) => [identifier.ordinal, identifier.name, conditions?.[0]?.reason]),
    ).toEqual([
      [0, 'c1', 'Applied'],
      [1, 'new', 'PreparingToProcess'],
    ]);
    expect(ahead[0]?.conditions).toEqual(before.manifestConditions?.[1]?.conditions);
  });
});

describe('reading manifests', () => {
  const map = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  test.each([
    { it: 'a text', manifest: 'x', reason: 'DecodingErred' },
    { it: 'a list', manifest: [], reason: 'DecodingErred' },
    { it: 'null', manifest: null, reason: 'DecodingErred' },
    {
      it: 'an object without a kind',
      manifest: { apiVersion: 'v1', metadata: { name: 'a' } },
      reason: 'DecodingErred',
    },
    { it: 'an object without metadata', manifest: { apiVersion: 'v1', kind: 'ConfigMap' }, reason: 'DecodingErred' },
    { it: 'an object without a name', manifest: map({}), reason: 'DecodingErred' },
    { it: 'a name that is a number', manifest: map({ name: 1 }), reason: 'DecodingErred' },
    { it: 'a generateName', manifest: map({ generateName: 'a-' }), reason: 'FoundGenerateName' },
    { it: 'a name and a generateName', manifest: map({ name: 'a', generateName: 'a-' }), reason: undefined },
  ])('$it: $reason', ({ manifest, reason }) => expect(ordersOf([manifest])[0]?.refusal?.reason).toBe(reason));

  test('the second of two is a duplicate, in whatever version', () => {
    const orders = ordersOf([
      map({ name: 'a' }),
      { ...map({ name: 'a' }), apiVersion: 'v2' },
      map({ name: 'a', namespace: 'b' }),
    ]);
    expect(orders.map(({ refusal }) => refusal?.reason)).toEqual([undefined, 'Duplicated', undefined]);
    expect(orders[1]?.refusal?.message).toBe('ConfigMap "a" is already manifest 0 of this Work');
  });
});
