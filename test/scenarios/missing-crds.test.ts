// A hub whose program was upgraded before its CRDs: the kind ClusterGroup is missing. Placements that need it name it, and
// all others go on.
import { describe, expect } from 'vitest';
import { clusterGroup } from '../../src/api/cluster-group.ts';
import { crdOf } from '../../src/api/crd.ts';
import { hubKinds } from '../../src/api/kinds.ts';
import { families } from '../../src/hub/families.ts';
import { configMap, type Delivery, DONE, deployment, scenario } from '../delivery.ts';

const served = hubKinds.filter((kind) => kind !== clusterGroup);
const MISSING = 'ClusterGroups cannot be read: install the CRDs of this version (flotilla crds hub)';
const BY_PARTITION = {
  strategy: { type: 'Partitioned', partitioned: { partitions: [{ name: 'edge', clusterGroup: 'edge' }] } },
};
const clusterAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [{ clusterGroup: 'edge' }] },
};
const BY_AFFINITY = { policy: { placementType: 'PickAll', affinity: { clusterAffinity } } };

const invalid = async (it: Delivery, name: string) =>
  (await it.holds(name)).flatMap(({ code, facts }) => (code === 'SpecInvalid' ? [facts?.['message']] : []));

describe('a hub without the CRD of ClusterGroups', () => {
  scenario.for(families)(
    'names it where it is needed, and keeps everything else going',
    { members: 2, served },
    async (it) => {
      await it.give(configMap('1'), deployment('web:1'));
      await it.place({ strategy: { type: 'Partitioned', partitioned: { maxUnavailable: 1 } } });
      await it.place(BY_PARTITION, 'partitions');
      await it.place(BY_AFFINITY, 'affinity');
      await it.runs(60_000);
      expect(await it.said()).toEqual(DONE);

      // Its clusters are picked and wait.
      expect(await it.clusters('partitions')).toEqual(['c1', 'c2']);
      expect(await invalid(it, 'partitions')).toEqual([MISSING]);
      expect(await it.said('partitions')).toMatchObject({ Scheduled: expect.stringMatching(/^True/) });
      expect((await it.said('partitions'))['RolloutStarted']).not.toMatch(/^True/);
      expect(await it.clusters('affinity')).toEqual([]);
      expect((await it.said('affinity'))['Scheduled']).toBe('Unknown/SchedulePending');
      expect(await it.message('Scheduled', 'affinity')).toBe(MISSING);

      await it.give(configMap('2'));
      await it.join('c3');
      await it.runs(300_000);
      expect(await it.values()).toEqual({ c1: '2', c2: '2', c3: '2' });
      expect(await it.said()).toEqual(DONE);

      // The CRD is installed, and the hub need not be restarted.
      await it.unplace();
      await it.runs(60_000);
      await it.fleet.hub.create('customresourcedefinitions', undefined, crdOf(clusterGroup));
      await it.runs(60_000);
      await it.fleet.hub.create('clustergroups', undefined, { metadata: { name: 'edge' }, spec: { selector: {} } });
      await it.runs(600_000);
      expect(await invalid(it, 'partitions')).toEqual([]);
      expect(await it.message('Scheduled', 'affinity')).not.toContain(MISSING);
      expect(await it.clusters('affinity')).toEqual(['c1', 'c2', 'c3']);
    },
  );
});
