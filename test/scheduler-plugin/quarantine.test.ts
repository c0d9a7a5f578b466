// The worked example of docs/scheduler.md: it stands there as it is here, and it works as the page says.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { MemberCluster } from '../../src/api/member-cluster.ts';
import type { PlacementPolicy } from '../../src/api/placement-policy.ts';
import { admitted } from '../../src/hub/scheduler/affected.ts';
import { cycle } from '../../src/hub/scheduler/cycle.ts';
import { profile } from '../../src/hub/scheduler/profile.ts';
import { aMember, NOW } from '../../src/hub/scheduler/scheduler.testing.ts';
import { quarantine } from './quarantine.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const at = profile.findIndex(({ name }) => name === 'TaintToleration') + 1;
const plugins = [...profile.slice(0, at), quarantine, ...profile.slice(at)];

const member = (name: string, value?: string): MemberCluster => {
  const made = aMember(name);
  return value === undefined
    ? made
    : { ...made, metadata: { ...made.metadata, annotations: { 'example.com/quarantine': value } } };
};

const schedule = (policy: PlacementPolicy, members: readonly MemberCluster[], numberOfClusters = 0) =>
  cycle({ policy, numberOfClusters, snapshot: 'web-0', members, bindings: [], now: NOW, plugins });

describe('the plugin of docs/scheduler.md', () => {
  test('is the one that is tested here', () => {
    expect(read('../../docs/scheduler.md')).toContain(`\`\`\`ts\n${read('./quarantine.ts')}\`\`\`\n`);
  });

  test('stands in the profile that the page shows, and all others do as well', () => {
    const [, shown = ''] = /profile: readonly Plugin\[\] = \[([^\]]*)\]/.exec(read('../../docs/scheduler.md')) ?? [];
    const [, real = ''] =
      /profile: readonly Plugin\[\] = \[([^\]]*)\]/.exec(read('../../src/hub/scheduler/profile.ts')) ?? [];
    expect(shown.replace('  quarantine,\n', '')).toBe(real);
  });

  test('refuses with a reason and its name', () => {
    const { picks, explained } = schedule({ placementType: 'PickAll' }, [member('a'), member('b', 'true')]);
    expect(picks.map(({ decision }) => decision.clusterName)).toEqual(['a']);
    expect([...(explained ?? [])]).toEqual([
      {
        plugin: 'Quarantine',
        decision: {
          clusterName: 'b',
          selected: false,
          reason: 'ClusterUnschedulable, cluster is in quarantine (annotation example.com/quarantine)',
        },
      },
    ]);
  });

  test('ranks', () => {
    const { picks } = schedule({ placementType: 'PickN' }, [member('a'), member('b', 'lifted')], 2);
    expect(picks.map(({ decision }) => [decision.clusterName, decision.clusterScore?.affinityScore])).toEqual([
      ['a', 0],
      ['b', -50],
    ]);
  });

  test('has nothing to say without quarantines', () => {
    expect(
      quarantine.prepare({
        policy: { placementType: 'PickAll' },
        members: [member('a')],
        find: () => undefined,
        obsolete: new Set(),
        now: NOW,
      }),
    ).toBeUndefined();
  });

  test.each([
    ['true', undefined, true],
    ['true', 'lifted', true],
    ['true', 'true', false],
    [undefined, 'true', false],
    [undefined, undefined, false],
  ])('wakes placements when a quarantine is lifted: %s, %s', (older, newer, wakes) => {
    const snapshot = { metadata: { name: 'web-0' }, spec: { policyHash: '' } };
    const change = { older: member('a', older), newer: member('a', newer) };
    expect(admitted(change, snapshot, NOW, plugins)).toBe(wakes);
  });
});
