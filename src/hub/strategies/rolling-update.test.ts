import { describe, expect, test } from 'vitest';
import type { PlacementStatus } from '../../api/placement.ts';
import type { HubBinding, HubPolicySnapshot } from '../placement-sources.ts';
import type { RollingLimits } from '../planners/rolling.ts';
import { foundOnly, newsOfZero } from './rolling-update.ts';

const said = (status: 'True' | 'False', observedGeneration: number): HubPolicySnapshot => ({
  metadata: { name: 'web-0', generation: 2 },
  spec: { policyHash: '' },
  status: {
    observedCRPGeneration: 1,
    targetClusters: [
      { clusterName: 'c1', selected: true, reason: 'picked' },
      { clusterName: 'c2', selected: false, reason: 'not picked' },
    ],
    conditions: [
      {
        type: 'Scheduled',
        status,
        reason: 'x',
        message: '',
        observedGeneration,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
});

describe('that no more clusters can be found', () => {
  test.each([
    { it: 'holds when the scheduler says so of this snapshot', of: said('False', 2), is: ['c1'] },
    { it: 'does not hold when it said so of an older state', of: said('False', 1), is: undefined },
    { it: 'does not hold when it found all', of: said('True', 2), is: undefined },
  ])('$it', ({ of, is }) => {
    expect(foundOnly(of)).toEqual(is);
  });
});

describe('a limit of 0', () => {
  const bindings = [{ metadata: {}, spec: { state: 'Bound' }, conditions: [] }] as unknown as readonly HubBinding[];
  const limitsWith = (maxUnavailable: number | string) => ({ maxUnavailable }) as RollingLimits;
  const at = (observedResourceIndex: string): PlacementStatus => ({ observedResourceIndex });

  test.each([
    { it: 'with every revision', was: '0', is: '1', max: 0, told: true },
    { it: 'in percent, too', was: '0', is: '1', max: '0%', told: true },
    { it: 'not again with the same one', was: '1', is: '1', max: 0, told: false },
    { it: 'not with the first one', was: '', is: '0', max: 0, told: false },
    { it: 'not of a limit that can be kept', was: '0', is: '1', max: '1%', told: false },
  ])('is told $it', ({ was, is, max, told }) => {
    const news = newsOfZero({ before: at(was), after: at(is), bindings }, limitsWith(max));
    expect(news).toHaveLength(told ? 1 : 0);
    if (told) expect(news[0]?.message).toContain('revision 1 goes to one cluster at a time');
  });

  test('is not told where nothing changes in place', () => {
    const leaving = bindings.map((each) => ({ ...each, spec: { ...each.spec, state: 'Unscheduled' as const } }));
    expect(newsOfZero({ before: at('0'), after: at('1'), bindings: leaving }, limitsWith(0))).toEqual([]);
  });
});
