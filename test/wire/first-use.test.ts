// What a first user stumbled over, with the built program and real kubectl as it was found: a dead member that is being deleted, objects that belong
// to a cluster itself, and conditions that are True while a change is held.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Condition, type Fleet, type PlacementStatus, startFleet } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import { flotilla, start } from './fleet.ts';
import { type Server, skipsKubectl, startServer } from './server.ts';

const example = (file: string) => fileURLToPath(new URL(`../../examples/${file}`, import.meta.url));
const AVAILABLE = '--for=condition=ClusterResourcePlacementAvailable';

const placement = (name: string, selector: object, policy: object, metadata: object = {}) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name, ...metadata },
  spec: { resourceSelectors: [{ version: 'v1', group: '', ...selector }], policy },
});

describe.skipIf(skipsKubectl)('what a first user stumbled over', () => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-first-use-'));
  const running: AsyncDisposable[] = [];
  let fleet: Fleet;
  let other: Server;
  beforeAll(async () => {
    [fleet, other] = await Promise.all([startFleet(), startServer({ args: ['--in-memory'] })]);
    running.push(fleet, other);
  });
  afterAll(async () => {
    for (const each of running.toReversed()) await each[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const clusters = ({ placementStatuses = [] }: PlacementStatus) =>
    placementStatuses.map(({ clusterName }) => clusterName).join();
  const done = (conditions: readonly Condition[]) =>
    conditions.some(({ type, status }) => type.endsWith('Available') && status === 'True');
  const waits = () => fleet.try(['wait', AVAILABLE, 'crp/shop', '--timeout=1s']);
  /** For a moment after a change the conditions still speak of the revision before. */
  const isKnown = (revision: number) =>
    fleet.waitForStatus(
      ['crp', 'shop'],
      ({ conditions, observedResourceIndex }) =>
        Number(observedResourceIndex) >= revision || conditions.some(({ status }) => status !== 'True'),
      'the change is known',
    );
  const images = async () =>
    Promise.all(
      [1, 2, 3].map((number) =>
        fleet.on(`member-${number}`, [
          ...['-n', 'shop', 'get', 'deployment', 'web', '-o'],
          'jsonpath={.spec.template.spec.containers[0].image}',
        ]),
      ),
    );

  test('a dead member that is being deleted is replaced long before its object is gone, and what it runs stays', async () => {
    const file = join(home, 'zz');
    const env = { KUBECONFIG: fleet.kubeconfig };
    const joins = ['join', 'zz', '--labels', 'grp=x', '--heartbeat-period-seconds', '2', '-o', file];
    expect(await flotilla(home, joins, env)).toMatchObject({ code: 0, stderr: '' });
    const agent = start(home, ['member', '--name', 'zz', '--hub-kubeconfig', file, '--kubeconfig', other.kubeconfig]);
    running.push(agent);
    await fleet.hub(['wait', '--for=condition=Healthy', 'membercluster/zz', '--timeout=60s']);
    await fleet.hub(['label', 'membercluster', 'member-1', 'grp=x']);
    await fleet.apply(
      namespace('pn'),
      placement(
        'pn',
        { kind: 'Namespace', name: 'pn' },
        {
          placementType: 'PickN',
          numberOfClusters: 1,
          affinity: {
            clusterAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                clusterSelectorTerms: [{ labelSelector: { matchLabels: { grp: 'x' } } }],
              },
            },
          },
        },
      ),
    );
    await fleet.waitForAvailable('crp/pn');
    expect(clusters(await fleet.status('crp', 'pn'))).toBe('zz');

    await agent.stop('SIGKILL');
    await fleet.hub(['delete', 'membercluster', 'zz', '--wait=false']);
    await fleet.waitForStatus(
      ['crp', 'pn'],
      (status) => clusters(status) === 'member-1' && done(status.conditions) && (status.holds ?? []).length === 0,
      'another member has it, and nothing waits for the dead one',
    );
    expect(await fleet.on('member-1', ['get', 'namespace', 'pn', '-o', 'name'])).toBe('namespace/pn\n');
    // The member may be back one day: until it is known to be gone, its object, its orders and what runs there stay.
    expect(await fleet.hub(['get', 'membercluster', 'zz', '--no-headers'])).toMatch(/^zz +True +Unknown /);
    expect(await fleet.hub(['get', 'works', '-n', 'fleet-member-zz', '-o', 'name'])).toBe(
      'work.placement.kubernetes-fleet.io/pn-work\n',
    );
    expect(await other.ok(['get', 'namespace', 'pn', '-o', 'name'])).toBe('namespace/pn\n');
  });

  test('what belongs to a cluster itself is neither placed nor taken over nor deleted', async () => {
    const roles = async () => (await fleet.on('member-3', ['get', 'clusterroles', '-o', 'name'])).split('\n').sort();
    const before = await roles();
    expect(before).toContain('clusterrole.rbac.authorization.k8s.io/cluster-admin');
    const policy = { placementType: 'PickFixed', clusterNames: ['member-3'] };
    const selector = { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole' };
    await fleet.apply(
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'reader' },
        rules: [],
      },
      placement('roles', selector, policy),
    );
    await fleet.waitForAvailable('crp/roles');
    expect(await roles()).toContain('clusterrole.rbac.authorization.k8s.io/reader');
    const selected = (await fleet.status('crp', 'roles')).selectedResources?.map(({ name }) => name) ?? [];
    expect(selected).toContain('reader');
    expect(selected.filter((name) => /^(system:|cluster-admin$|admin$|edit$|view$)/.test(name))).toEqual([]);
    await fleet.hub(['delete', 'crp', 'roles', '--timeout=60s']);
    expect(await roles()).toEqual(before);

    const priorities = await fleet.on('member-3', ['get', 'priorityclasses', '-o', 'name']);
    await fleet.apply(placement('priorities', { group: 'scheduling.k8s.io', kind: 'PriorityClass' }, policy));
    await fleet.waitForAvailable('crp/priorities');
    expect((await fleet.status('crp', 'priorities')).selectedResources ?? []).toEqual([]);
    await fleet.hub(['delete', 'crp', 'priorities', '--timeout=60s']);
    expect(await fleet.on('member-3', ['get', 'priorityclasses', '-o', 'name'])).toBe(priorities);

    await fleet.apply(placement('named', { ...selector, name: 'view' }, policy));
    await fleet.waitForReason('crp/named', 'ClusterResourcePlacementScheduled', 'InvalidResourceSelectors');
    await fleet.hub(['delete', 'crp', 'named', '--timeout=60s']);
  });

  test('taken over, but to be kept: released, not deleted', async () => {
    await fleet.on('member-2', ['create', 'namespace', 'kept']);
    await fleet.apply(
      namespace('kept'),
      placement(
        'kept',
        { kind: 'Namespace', name: 'kept' },
        { placementType: 'PickFixed', clusterNames: ['member-1', 'member-2'] },
        { annotations: { 'flotilla.dev/keep-taken-over': 'true' } },
      ),
    );
    await fleet.waitForAvailable('crp/kept');
    await fleet.hub(['delete', 'crp', 'kept', '--timeout=60s']);
    expect(
      await fleet.on('member-2', [
        'get',
        'namespace',
        'kept',
        '-o',
        'jsonpath={.status.phase}{.metadata.ownerReferences}',
      ]),
    ).toBe('Active');
    await fleet.on('member-1', ['wait', '--for=delete', 'namespace/kept', '--timeout=60s']);
  });

  test('kubectl wait for Available never passes while a change is held', async () => {
    await fleet.hub(['apply', '-f', example('shop.yaml'), '-f', example('placement.yaml')]);
    await fleet.waitForAvailable('crp/shop');
    const [first] = await images();
    expect(readFileSync(example('shop.yaml'), 'utf8')).toContain(`image: ${first}`);
    const change = async (image: string) => fleet.hub(['-n', 'shop', 'set', 'image', 'deployment/web', `web=${image}`]);
    const freeze = await flotilla(home, ['freeze', '-m', 'no changes tonight'], { KUBECONFIG: fleet.kubeconfig });
    expect(freeze).toMatchObject({ code: 0, stderr: '' });
    await change('web:2');
    await isKnown(1);
    expect((await waits()).code).toBe(1);
    expect(await images()).toEqual([first, first, first]);
    expect(await flotilla(home, ['unfreeze'], { KUBECONFIG: fleet.kubeconfig })).toMatchObject({ code: 0, stderr: '' });
    await fleet.waitForAvailable('crp/shop');
    expect(await images()).toEqual(['web:2', 'web:2', 'web:2']);

    // A selector that cannot be: what is said about the content stays as it was, at the generation that it speaks of.
    const before = (await fleet.status('crp', 'shop')).conditions.slice(1);
    const second = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', name: 'view' };
    await fleet.hub([
      ...['patch', 'crp', 'shop', '--type=json', '-p'],
      JSON.stringify([{ op: 'add', path: '/spec/resourceSelectors/-', value: second }]),
    ]);
    await fleet.waitForReason('crp/shop', 'ClusterResourcePlacementScheduled', 'InvalidResourceSelectors');
    expect((await fleet.status('crp', 'shop')).conditions.slice(1)).toEqual(before);
    await fleet.hub([
      ...['patch', 'crp', 'shop', '--type=json', '-p'],
      JSON.stringify([{ op: 'remove', path: '/spec/resourceSelectors/1' }]),
    ]);
    await fleet.waitForAvailable('crp/shop');

    // As it was found: more than one snapshot holds. Available may only be said once the change is out.
    const big = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'big', namespace: 'shop' } };
    await fleet.hub(['create', '-f', '-'], JSON.stringify({ ...big, data: { big: 'a'.repeat(900_000) } }));
    await change('web:3');
    await isKnown(2);
    const passes = (await waits()).code === 0;
    if (passes) expect(await images()).toEqual(['web:3', 'web:3', 'web:3']);
  });
});
