import { describe, expect, test } from 'vitest';
import { keptLists } from '../bindings/kept-lists.ts';
import { boundedDetails, boundedFailures } from './bounded-lists.ts';

const NOW = '2026-01-01T00:00:00Z';
const failed = (at: number, message: string) => ({
  version: 'v1',
  kind: 'ConfigMap',
  name: `object-${String(at).padStart(4, '0')}`,
  condition: {
    type: 'Applied',
    status: 'False' as const,
    reason: 'ManifestApplyFailed',
    message,
    lastTransitionTime: NOW,
  },
});
const drifted = (at: number, value: string, path = '/data/a') => ({
  version: 'v1',
  kind: 'ConfigMap',
  name: `object-${at}`,
  observationTime: NOW,
  targetClusterObservedGeneration: 1,
  firstDriftedObservedTime: NOW,
  observedDrifts: [
    { path, valueInHub: value, valueInMember: 'x' },
    { path: '/data/b', valueInHub: 'x', valueInMember: 'y' },
  ],
});
const many = <T>(of: (at: number) => T) => Array.from({ length: 200 }, (_, at) => of(at));
const bytesOf = (list: unknown) => Buffer.byteLength(JSON.stringify(list));
const MAX = 384 * 1024;

describe('the lists of a binding', () => {
  test('are as reported while they are small, at most 100 entries', () => {
    expect(boundedFailures(many((at) => failed(at, 'no'))).map(({ name }) => name)).toEqual(
      many((at) => failed(at, 'no').name).slice(0, 100),
    );
    expect(boundedDetails([drifted(0, 'v')], 'observedDrifts')).toEqual([drifted(0, 'v')]);
  });

  test('cut messages once they become large, and keep the first whole', () => {
    const list = boundedFailures(many((at) => failed(at, 'm'.repeat(32_000))));
    expect(list).toHaveLength(100);
    expect(list[0]?.condition.message).toHaveLength(32_000);
    expect(list[99]?.condition.message).toHaveLength(257);
    expect(bytesOf(list)).toBeLessThanOrEqual(MAX);
  });

  test.each([
    { it: 'values', of: (at: number) => drifted(at, 'v'.repeat(200_000)) },
    { it: 'paths', of: (at: number) => drifted(at, 'v', `/${'p'.repeat(4000)}`) },
    { it: 'what JSON escapes', of: (at: number) => drifted(at, '\u0001"'.repeat(20_000)) },
  ])('fit whatever is large: $it', ({ of }) => {
    const list = boundedDetails(many(of), 'observedDrifts');
    expect(list.length).toBeGreaterThan(50);
    expect(bytesOf(list)).toBeLessThanOrEqual(MAX);
  });
});

describe('the cache of bindings', () => {
  const lists = (last: string) => ({
    failedPlacements: [failed(0, 'no')],
    driftedPlacements: [drifted(0, 'small'), drifted(1, `${'v'.repeat(100_000)}${last}`)],
  });

  test('keeps small lists as they are', () => {
    const small = { failedPlacements: [failed(0, 'no')], driftedPlacements: [drifted(0, 'small')] };
    expect(keptLists(small)).toEqual(small);
    expect(keptLists({})).toEqual({});
  });

  test('keeps of large details the first path and a digest that notices every change', () => {
    const kept = keptLists(lists('a'));
    expect(bytesOf(kept)).toBeLessThan(4096);
    expect(kept.driftedPlacements?.[0]).toEqual(drifted(0, 'small'));
    expect(kept.driftedPlacements?.[1]?.observedDrifts?.[0]?.path).toBe('/data/a and 1 more path(s)');
    expect(keptLists(lists('a'))).toEqual(kept);
    expect(keptLists(lists('b')).detailsDigest).not.toBe(kept.detailsDigest);
  });
});
