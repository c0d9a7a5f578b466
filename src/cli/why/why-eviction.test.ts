import { describe, expect, test } from 'vitest';
import type { DisruptionBudget } from '../../api/disruption-budget.ts';
import type { Eviction } from '../../api/eviction.ts';
import type { Placement } from '../../api/placement.ts';
import { type EvictionCase, explainEviction, namesEviction, whichEviction } from './why-eviction.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const condition = (type: string, status: string, message: string) => ({
  type,
  status,
  reason: 'R',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const of = (conditions: readonly object[], more: Partial<EvictionCase> = {}): EvictionCase => ({
  eviction: {
    metadata: { name: 'e' },
    spec: { placementName: 'web', clusterName: 'c1' },
    status: { conditions },
  } as unknown as Eviction,
  placement: { metadata: { name: 'web' }, spec: {} } as unknown as Placement,
  budget: undefined,
  notes: [],
  ...more,
});
const budget = (spec: object) => ({ metadata: { name: 'web' }, spec }) as unknown as DisruptionBudget;
const VALID = condition('Valid', 'True', 'ok');
const BLOCKED = [VALID, condition('Executed', 'False', 'blocked by the budget')];

describe('why eviction/NAME', () => {
  test('without an outcome it waits for the hub', () => {
    const said = explainEviction(of([]), NOW);
    expect(said.isWaiting).toBe(true);
    expect(said.sentence).toContain('is not carried out yet');
  });

  test('executed is not waiting and needs nothing', () => {
    const said = explainEviction(of([VALID, condition('Executed', 'True', 'no budget')]), NOW);
    expect(said).toMatchObject({ isWaiting: false, next: [] });
    expect(said.sentence).toBe('ClusterResourcePlacementEviction "e" was executed: no budget');
  });

  test('blocked names the budget with its limits', () => {
    const said = explainEviction(of(BLOCKED, { budget: budget({ minAvailable: 3 }) }), NOW);
    expect(said.isWaiting).toBe(true);
    expect(said.causes[0]?.evidence[1]).toEqual({
      about: 'ClusterResourcePlacementDisruptionBudget "web"',
      says: ['minAvailable: 3'],
    });
    expect(said.next[0]).toContain('wait until more clusters are available');
  });

  test('blocked by a budget that means nothing for PickAll says how to correct it', () => {
    const said = explainEviction(of(BLOCKED, { budget: budget({ maxUnavailable: 1 }) }), NOW);
    expect(said.next[0]).toContain('set minAvailable of ClusterResourcePlacementDisruptionBudget "web" to a number');
  });

  test('invalid for PickFixed says where the cluster is named', () => {
    const fixed = { metadata: { name: 'web' }, spec: { policy: { placementType: 'PickFixed' } } };
    const said = explainEviction(
      of([condition('Valid', 'False', 'PickFixed')], { placement: fixed as unknown as Placement }),
      NOW,
    );
    expect(said.sentence).toContain('is invalid and final: PickFixed');
    expect(said.next).toEqual(['remove the cluster from spec.policy.clusterNames of ClusterResourcePlacement "web"']);
  });

  test('which one is meant', () => {
    expect(namesEviction('eviction/e')).toBe(true);
    expect(namesEviction('crpe/e')).toBe(true);
    expect(namesEviction('placement/e')).toBe(false);
    expect(whichEviction('eviction/e')).toBe('e');
    expect(() => whichEviction('eviction/e', 'team')).toThrow('is in no namespace');
    expect(() => whichEviction('eviction/E_')).toThrow('cannot be the name');
  });
});
