// Objects that existed on a member before: those of the cluster itself are never touched, and those that were taken
// over can be kept.
import { describe, expect } from 'vitest';
import { appliedWork } from '../../src/api/applied-work.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { clusterFamily, families } from '../../src/hub/families.ts';
import type { TestCluster } from '../cluster.ts';
import { configMap, type Delivery, deployment, SHOP, scenario, selects } from '../delivery.ts';

const KEEP = 'flotilla.dev/keep-taken-over';
const RBAC = 'rbac.authorization.k8s.io';
const ROLES = selects(RBAC, 'v1', 'ClusterRole');

const role = (name: string, labels: object = {}) => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules: [],
});

/** The ConfigMap `app` exists before anything is placed. */
const withConfigMap = {
  members: 1,
  async prepare(member: TestCluster) {
    try {
      await member.create('namespaces', undefined, { metadata: { name: SHOP } });
    } catch {
      // It already exists in the namespaced family.
    }
    await member.create('configmaps', SHOP, { metadata: { name: 'app' }, data: { value: 'before' } });
  },
};

const annotate = (it: Delivery, value: string | null) =>
  it.fleet.patch(it.family.placement.plural, it.namespace, 'web', { metadata: { annotations: { [KEEP]: value } } });

const owners = (object: KubeObject | undefined) => (object?.metadata.ownerReferences ?? []).map(({ kind }) => kind);

async function placed(it: Delivery): Promise<void> {
  await it.give(configMap('one'), deployment('web:1'));
  await it.place();
  await it.runs();
  expect(await it.values()).toEqual({ c1: 'one' });
}

describe('an object that was taken over', () => {
  scenario.for(families)('goes with the placement', withConfigMap, async (it) => {
    await placed(it);
    await it.unplace();
    await it.runs(30_000);
    expect(await it.values()).toEqual({ c1: '-' });
  });

  scenario.for(families)(
    'is released instead if the placement says so, and the Work says it',
    withConfigMap,
    async (it) => {
      await placed(it);
      await annotate(it, 'true');
      await it.runs();
      const { manifestConditions = [] } = (await it.work('c1'))?.status ?? {};
      const said = manifestConditions.map(
        ({ identifier, conditions }) =>
          `${identifier.kind} ${conditions?.find(({ type }) => type === 'Applied')?.message}`,
      );
      expect(said).toContainEqual(
        expect.stringMatching(/^ConfigMap ConfigMap "shop\/app" was on the member before .* released, not deleted/),
      );
      expect(said).toContainEqual('Deployment ');
      await it.unplace();
      await it.runs(30_000);
      expect(await it.values()).toEqual({ c1: 'one' });
      expect(await it.images()).toEqual({ c1: '-' });
      const kept = await it.find('c1', 'configmaps', 'app');
      expect(owners(kept)).toEqual([]);
      expect(kept?.metadata.annotations ?? {}).toEqual({});
      expect(await it.bindings()).toEqual([]);
      expect(await it.work('c1')).toBeUndefined();
    },
  );

  scenario.for(families)('is released also if that is said just before the deletion', withConfigMap, async (it) => {
    await placed(it);
    await annotate(it, 'true');
    await it.unplace();
    await it.runs(30_000);
    expect(await it.values()).toEqual({ c1: 'one' });
  });

  scenario.for(families)('goes after all if that is taken back', withConfigMap, async (it) => {
    await placed(it);
    await annotate(it, 'true');
    await it.runs();
    await annotate(it, null);
    await it.runs();
    await it.unplace();
    await it.runs(30_000);
    expect(await it.values()).toEqual({ c1: '-' });
  });

  scenario.for(families)('is released when it is no longer selected', withConfigMap, async (it) => {
    await placed(it);
    await annotate(it, 'true');
    await it.give({ ...configMap('two', 'other') });
    await it.runs();
    await it.take('configmaps', 'app');
    await it.take('configmaps', 'other');
    await it.runs(30_000);
    expect(await it.values()).toEqual({ c1: 'one' });
    expect(owners(await it.find('c1', 'configmaps', 'app'))).toEqual([]);
    expect(await it.find('c1', 'configmaps', 'other')).toBeUndefined();
  });
});

describe('what belongs to the cluster itself', () => {
  const withRoles = {
    members: 1,
    async prepare(member: TestCluster) {
      await member.create('clusterroles', undefined, role('system:theirs')).catch(() => undefined);
      await member.create(
        'clusterroles',
        undefined,
        role('labeled', { 'kubernetes.io/bootstrapping': 'rbac-defaults' }),
      );
    },
  };

  scenario.for([clusterFamily])('is skipped by a selector without a name', withRoles, async (it) => {
    await it.give(role('mine'), role('system:theirs'), role('labeled', { 'kubernetes.io/bootstrapping': 'x' }));
    await it.place({ resourceSelectors: [ROLES] });
    await it.runs();
    const { selectedResources = [] } = await it.status();
    expect(selectedResources.map(({ name }) => name)).toContain('mine');
    expect(selectedResources.map(({ name }) => name)).not.toContain('labeled');
    expect(selectedResources.filter(({ name }) => name.startsWith('system:') || name === 'cluster-admin')).toEqual([]);
    await it.unplace();
    await it.runs(30_000);
    expect(await it.find('c1', 'clusterroles', 'mine')).toBeUndefined();
    expect(await it.find('c1', 'clusterroles', 'system:theirs')).toBeDefined();
    expect(await it.find('c1', 'clusterroles', 'labeled')).toBeDefined();
  });

  scenario.for([clusterFamily])('is an error of the user where it is named', withRoles, async (it) => {
    await it.give(role('system:theirs'));
    await it.place({ resourceSelectors: [{ ...ROLES, name: 'system:theirs' }] });
    await it.runs();
    expect(await it.said()).toMatchObject({ Scheduled: 'False/InvalidResourceSelectors' });
    expect(await it.message('Scheduled')).toContain('belongs to the cluster itself');
  });

  scenario.for([clusterFamily])(
    'is refused and given back by an agent, whatever a Work says',
    withRoles,
    async (it) => {
      await it.give(role('mine'));
      await it.place({ resourceSelectors: [ROLES] });
      await it.runs();
      // As an earlier version left it: owned by the Work.
      const record = await it.fleet.member('c1').get(appliedWork.plural, undefined, it.workName());
      const owner = {
        apiVersion: `${appliedWork.group}/${appliedWork.version}`,
        kind: appliedWork.kind,
        name: record.metadata.name,
        uid: record.metadata.uid,
      };
      await it.patchOn('c1', 'clusterroles', 'system:theirs', { metadata: { ownerReferences: [owner] } });
      await it.fleet.stopHub();
      await it.fleet.patch('works', 'fleet-member-c1', it.workName(), {
        spec: { workload: { manifests: [role('system:theirs'), role('labeled')] } },
      });
      await it.runs(30_000);
      const { manifestConditions = [] } = (await it.work('c1'))?.status ?? {};
      const reasons = manifestConditions.map(
        ({ identifier, conditions }) => `${identifier.name} ${conditions?.[0]?.reason}`,
      );
      expect(reasons).toEqual(['system:theirs FailedToTakeOver', 'labeled FailedToTakeOver']);
      expect(owners(await it.find('c1', 'clusterroles', 'system:theirs'))).toEqual([]);
      expect(await it.find('c1', 'clusterroles', 'mine')).toBeUndefined();
    },
  );

  scenario.for([clusterFamily])('is given back when its Work goes', withRoles, async (it) => {
    await it.give(role('mine'));
    await it.place({ resourceSelectors: [ROLES] });
    await it.runs();
    const member = it.fleet.member('c1');
    const record = await member.get(appliedWork.plural, undefined, it.workName());
    const { name, uid } = record.metadata;
    const owner = { apiVersion: `${appliedWork.group}/${appliedWork.version}`, kind: appliedWork.kind, name, uid };
    await it.fleet.stopAgent('c1');
    await it.patchOn('c1', 'clusterroles', 'labeled', { metadata: { ownerReferences: [owner] } });
    const appliedResources = ['mine', 'labeled'].map((each, ordinal) => ({
      ordinal,
      group: RBAC,
      version: 'v1',
      kind: 'ClusterRole',
      resource: 'clusterroles',
      name: each,
    }));
    const at = { ...member.at(appliedWork.plural, undefined, name), subresource: 'status' as const };
    await member.call({
      verb: 'patch',
      at,
      patch: { type: 'merge', body: { status: { appliedResources } } },
      manager: 'x',
    });
    await it.unplace();
    it.fleet.startAgent('c1');
    await it.runs(60_000);
    expect(await it.find('c1', 'clusterroles', 'mine')).toBeUndefined();
    expect(owners(await it.find('c1', 'clusterroles', 'labeled'))).toEqual([]);
    expect(await it.find('c1', 'clusterroles', 'labeled')).toBeDefined();
  });
});
