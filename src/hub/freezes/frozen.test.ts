import { describe, expect, test } from 'vitest';
import { type FreezeFacts, frozenIn } from './frozen.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const freeze = (name: string, spec: Partial<FreezeFacts['spec']> = {}): FreezeFacts => ({
  name,
  spec: { reason: 'incident', ...spec },
});
const prod = { clusterSelector: { matchLabels: { env: 'prod' } } };
const SHOP = { name: 'shop' };

describe('a cluster is frozen', () => {
  const rows: readonly [string, readonly FreezeFacts[], string | undefined][] = [
    ['by a freeze without selectors', [freeze('a')], 'a'],
    ['until its end', [freeze('a', { until: '2030-01-01T00:00:01Z' })], 'a'],
    ['not at its end', [freeze('a', { until: '2030-01-01T00:00:00Z' })], undefined],
    ['by an end that cannot be read', [freeze('a', { until: 'soon' })], 'a'],
    ['by name', [freeze('a', { placements: [{ name: 'other' }, { name: 'shop' }] })], 'a'],
    ['not by another name', [freeze('a', { placements: [{ name: 'other' }] })], undefined],
    [
      'not by a namespaced placement of the name',
      [freeze('a', { placements: [{ name: 'shop', namespace: 'team' }] })],
      undefined,
    ],
    ['by its labels', [freeze('a', prod)], 'a'],
    ['not by other labels', [freeze('a', { clusterSelector: { matchLabels: { env: 'dev' } } })], undefined],
    ['by an empty selector', [freeze('a', { clusterSelector: {} })], 'a'],
    ['by the one that ends last', [freeze('a', { until: '2030-01-01T01:00:00Z' }), freeze('b'), freeze('c')], 'b'],
    ['by the one that covers it', [freeze('a', { placements: [{ name: 'x' }] }), freeze('b', prod)], 'b'],
  ];
  test.each(rows)('%s', (_title, freezes, expected) => {
    expect(frozenIn(freezes, SHOP, NOW)?.by('c1', { env: 'prod' })?.on?.name).toBe(expected);
  });

  test('in a namespace by that namespace alone', () => {
    const one = [freeze('a', { placements: [{ name: 'shop', namespace: 'team' }] })];
    expect(frozenIn(one, { name: 'shop', namespace: 'team' }, NOW)).toBeDefined();
    expect(frozenIn(one, { name: 'shop', namespace: 'other' }, NOW)).toBeUndefined();
  });

  test('and one without labels only by a freeze of all clusters', () => {
    expect(frozenIn([freeze('a', prod)], SHOP, NOW)?.by('c1', undefined)).toBeUndefined();
    expect(frozenIn([freeze('a')], SHOP, NOW)?.by('c1', undefined)?.code).toBe('Frozen');
  });
});

test('it is looked at again when the first of the freezes ends', () => {
  const [early, late] = ['2030-01-01T01:00:00Z', '2030-01-01T02:00:00Z'];
  const frozen = frozenIn([freeze('a', { until: late }), freeze('b', { until: early, ...prod })], SHOP, NOW);
  expect(frozen?.wakeAt).toBe(Date.parse(early));
  expect(frozen?.by('c1', { env: 'prod' })).toMatchObject({ on: { name: 'a' }, until: Date.parse(late) });
  expect(frozenIn([freeze('a')], SHOP, NOW)).not.toHaveProperty('wakeAt');
});
