// Words for scenarios of delivery: a fleet whose members c1, c2, … have joined, content in the namespace `shop` of the hub, and one placement
// `web`, in either family. The cluster-scoped one places the namespace with all that is in it; the namespaced one places ConfigMaps and
// Deployments of it into a namespace that the members have already.
import { test } from 'vitest';
import type { Binding } from '../src/api/binding.ts';
import type { HoldEntry } from '../src/api/holds.ts';
import { memberNamespace } from '../src/api/names.ts';
import type { KubeObject } from '../src/api/object.ts';
import type { Placement, PlacementStatus } from '../src/api/placement.ts';
import type { Work } from '../src/api/work.ts';
import { ApiError } from '../src/base/errors.ts';
import type { PlacementFamily } from '../src/hub/families.ts';
import type { TestCluster } from './cluster.ts';
import { aFleet, type Fleet, type FleetOptions } from './fleet.ts';

export const SHOP = 'shop';

// ---- content

export const configMap = (value: string, name = 'app') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: SHOP },
  data: { value },
});

export const deployment = (image: string, replicas = 2) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: SHOP },
  spec: {
    replicas,
    progressDeadlineSeconds: 60,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});

export const selects = (group: string, version: string, kind: string, more: object = {}) => ({
  group,
  version,
  kind,
  ...more,
});
export const theNamespace = (more: object = {}) => selects('', 'v1', 'Namespace', { name: SHOP, ...more });
export const CONFIG_MAPS = selects('', 'v1', 'ConfigMap');
export const DEPLOYMENTS = selects('apps', 'v1', 'Deployment');

export const picks = (numberOfClusters: number, more: object = {}) => ({
  policy: { placementType: 'PickN', numberOfClusters, ...more },
});
export const rolls = (rollingUpdate: object) => ({ strategy: { type: 'RollingUpdate', rollingUpdate } });

// ---- a fleet with content

export interface DeliveryOptions extends FleetOptions {
  /** How many, or which with which labels. */
  readonly members?: number | Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly heartbeatPeriodSeconds?: number;
  /** What a member has before its agent is there. */
  prepare?(member: TestCluster, name: string): Promise<void>;
}

export interface Delivery extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly family: PlacementFamily;
  /** `namespace/` of a namespaced placement's key. */
  readonly namespace: string | undefined;
  /** Makes objects on the hub, or changes them. */
  give(...objects: readonly object[]): Promise<void>;
  /** Removes one from the hub's namespace. */
  take(plural: string, name: string): Promise<void>;
  place(spec?: object, name?: string): Promise<void>;
  change(spec: object, name?: string): Promise<void>;
  unplace(name?: string): Promise<void>;
  placement(name?: string): Promise<Placement>;
  status(name?: string): Promise<PlacementStatus>;
  /** By condition, without the family's prefix: `True/Reason`. */
  said(name?: string): Promise<Readonly<Record<string, string>>>;
  message(condition: string, name?: string): Promise<string>;
  /** Of one cluster in the placement's status. */
  saidOf(cluster: string, name?: string): Promise<Readonly<Record<string, string>>>;
  failedOn(cluster: string, name?: string): Promise<readonly string[]>;
  holds(name?: string): Promise<readonly HoldEntry[]>;
  bindings(name?: string): Promise<readonly Binding[]>;
  /** The clusters that have a binding which is not on its way out. */
  clusters(name?: string): Promise<readonly string[]>;
  work(cluster: string, name?: string): Promise<Work | undefined>;
  workName(name?: string): string;
  /** An object of a member, in `shop` if it has a namespace. */
  find(cluster: string, plural: string, name: string): Promise<KubeObject | undefined>;
  /** By member: the value of ConfigMap app, or the image of Deployment web; `-` = there is none. */
  values(): Promise<Readonly<Record<string, string>>>;
  images(): Promise<Readonly<Record<string, string>>>;
  patchOn(cluster: string, plural: string, name: string, body: object): Promise<void>;
  removeOn(cluster: string, plural: string, name: string): Promise<void>;
  join(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  runs(ms?: number): Promise<void>;
  /** Forgets the writes so far. */
  forget(): void;
  /** Writes since, without Events and heartbeats; `{ 'hub patch works': 1 }`. */
  writes(): Readonly<Record<string, number>>;
}

const namesOf = ({ members = 3 }: DeliveryOptions) =>
  typeof members === 'number'
    ? Object.fromEntries(Array.from({ length: members }, (_, index) => [`c${index + 1}`, {}]))
    : members;

export async function aDelivery(family: PlacementFamily, options: DeliveryOptions = {}): Promise<Delivery> {
  const { members: _members, heartbeatPeriodSeconds, prepare, ...fleetOptions } = options;
  const fleet = await aFleet({ delivers: {}, ...fleetOptions });
  const { hub } = fleet;
  const { namespaced, plural: placements } = family.placement;
  const namespace = namespaced ? SHOP : undefined;
  const joined: string[] = [];

  async function join(name: string, labels: Readonly<Record<string, string>> = {}) {
    await fleet.join(name, {
      labels,
      ...(heartbeatPeriodSeconds === undefined ? {} : { heartbeatPeriodSeconds }),
      async prepare(member) {
        if (namespaced) await member.create('namespaces', undefined, { metadata: { name: SHOP } });
        await prepare?.(member, name);
      },
    });
    joined.push(name);
    await fleet.settles();
  }
  for (const [name, labels] of Object.entries(namesOf(options))) await join(name, labels);
  await hub.create('namespaces', undefined, { metadata: { name: SHOP } });
  await fleet.runs(2000);

  const whole = (resourceSelectors = namespaced ? [CONFIG_MAPS, DEPLOYMENTS] : [theNamespace()]) => ({
    resourceSelectors,
  });
  const pluralOf = (cluster: TestCluster, { apiVersion, kind }: KubeObject) => {
    const found = cluster.running.catalogue.byKind(apiVersion, kind);
    if (found === undefined) throw new Error(`there is no kind ${kind}`);
    return found;
  };
  const said = (conditions: PlacementStatus['conditions'] = []) =>
    Object.fromEntries(
      conditions.map(({ type, status, reason }) => [type.replace(family.placement.kind, ''), `${status}/${reason}`]),
    );

  const it: Delivery = {
    fleet,
    family,
    namespace,
    async give(...objects) {
      for (const object of objects as readonly KubeObject[]) {
        const { plural, namespaced: isIn } = pluralOf(hub, object);
        const { namespace: place = SHOP, name = '' } = object.metadata;
        const { apiVersion: _apiVersion, kind: _kind, ...body } = object;
        if (await fleet.exists(plural, isIn ? place : undefined, name)) {
          await fleet.patch(plural, isIn ? place : undefined, name, body);
        } else await hub.create(plural, isIn ? place : undefined, body);
      }
      await fleet.settles();
    },
    async take(plural, name) {
      const at = hub.at(plural, hub.at(plural).resource.namespaced ? SHOP : undefined, name);
      await hub.call({ verb: 'delete', at });
      await fleet.settles();
    },
    async place(spec = {}, name = 'web') {
      await hub.create(placements, namespace, { metadata: { name }, spec: { ...whole(), ...spec } });
      await fleet.settles();
    },
    async change(spec, name = 'web') {
      await fleet.patch(placements, namespace, name, { spec });
      await fleet.settles();
    },
    async unplace(name = 'web') {
      await hub.call({ verb: 'delete', at: hub.at(placements, namespace, name) });
      await fleet.settles();
    },
    placement: async (name = 'web') => (await hub.get(placements, namespace, name)) as Placement,
    status: async (name) => (await it.placement(name)).status as PlacementStatus,
    said: async (name) => said((await it.status(name)).conditions),
    async message(condition, name) {
      const found = (await it.status(name)).conditions?.find(({ type }) => type.endsWith(condition));
      return found?.message ?? '';
    },
    async saidOf(cluster, name) {
      const { placementStatuses = [] } = await it.status(name);
      return said(placementStatuses.find(({ clusterName }) => clusterName === cluster)?.conditions);
    },
    async failedOn(cluster, name) {
      const { placementStatuses = [] } = await it.status(name);
      const entry = placementStatuses.find(({ clusterName }) => clusterName === cluster);
      return (entry?.failedPlacements ?? []).map(
        (failed) => `${failed.kind} ${failed.name}: ${failed.condition.reason}: ${failed.condition.message}`,
      );
    },
    holds: async (name) => (await it.status(name)).holds ?? [],
    async bindings(name = 'web') {
      const { list } = await hub.call({ verb: 'list', at: hub.at(family.binding.plural, namespace) });
      return ((list?.items ?? []) as readonly Binding[])
        .filter(({ metadata }) => metadata.labels?.['kubernetes-fleet.io/parent-CRP'] === name)
        .toSorted((a, b) => (a.spec.targetCluster < b.spec.targetCluster ? -1 : 1));
    },
    async clusters(name) {
      const all = await it.bindings(name);
      return all
        .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.state !== 'Unscheduled')
        .map(({ spec }) => spec.targetCluster);
    },
    workName: (name = 'web') => `${namespaced ? `${SHOP}.` : ''}${name}-work`,
    work: async (cluster, name) =>
      (await gotten(hub, 'works', memberNamespace(cluster), it.workName(name))) as Work | undefined,
    async find(cluster, plural, name) {
      const member = fleet.member(cluster);
      return gotten(member, plural, member.at(plural).resource.namespaced ? SHOP : undefined, name);
    },
    async values() {
      const found = joined.map(async (cluster) => {
        const object = (await it.find(cluster, 'configmaps', 'app')) as unknown as ReturnType<typeof configMap>;
        return [cluster, object?.data.value ?? '-'] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    },
    async images() {
      const found = joined.map(async (cluster) => {
        const object = (await it.find(cluster, 'deployments', 'web')) as unknown as ReturnType<typeof deployment>;
        return [cluster, object?.spec.template.spec.containers[0]?.image ?? '-'] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    },
    async patchOn(cluster, plural, name, body) {
      const member = fleet.member(cluster);
      const at = member.at(plural, member.at(plural).resource.namespaced ? SHOP : undefined, name);
      await member.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'somebody' });
    },
    async removeOn(cluster, plural, name) {
      const member = fleet.member(cluster);
      const at = member.at(plural, member.at(plural).resource.namespaced ? SHOP : undefined, name);
      await member.call({ verb: 'delete', at });
    },
    join,
    runs: (ms = 5000) => fleet.runs(ms),
    forget: () => fleet.writes.clear(),
    writes: () =>
      Object.fromEntries(
        [...fleet.writes].filter(([what]) => !/ (events|internalmemberclusters|memberclusters)/.test(what)).sort(),
      ),
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
  return it;
}

export async function gotten(
  cluster: TestCluster,
  plural: string,
  namespace: string | undefined,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    return await cluster.get(plural, namespace, name);
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

/** One test per family. */
export const scenario = {
  for:
    (families: readonly PlacementFamily[]) =>
    (name: string, options: DeliveryOptions, run: (it: Delivery) => Promise<void>): void => {
      for (const family of families) {
        test(`${name} (${family.placement.kind})`, async () => {
          await using it = await aDelivery(family, options);
          await run(it);
        });
      }
    },
};

/** All conditions of a placement whose content is everywhere and works. */
export const DONE = {
  Scheduled: 'True/SchedulingPolicyFulfilled',
  RolloutStarted: 'True/RolloutStarted',
  Overridden: 'True/NoOverrideSpecified',
  WorkSynchronized: 'True/WorkSynchronized',
  Applied: 'True/ApplySucceeded',
  Available: 'True/ResourceAvailable',
};
