// A hub and three members with a Deployment that a person changes again and again, sometimes to something that cannot work, while everything
// goes wrong that can: hub, agents and API servers crash, calls are lost, watches lie, and somebody edits what is none of their business.
//
// `delivery`: two hub processes of which one leads. `delivery-two-leaders`: both act at once, each by what it sees.
// What must never happen: more clusters without an available copy than the budget allows because of us; an answer about one revision that is
// taken for another; something foreign that is changed or deleted. What must be so in the end: the newest revision is everywhere, or, if it
// cannot work, it has stopped at the budget and the status names who holds it.
import { type Binding, binding } from '../../api/binding.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { hubKinds, memberKinds } from '../../api/kinds.ts';
import { labels, memberNamespace } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { type Placement, placement } from '../../api/placement.ts';
import { type ResourceSnapshot, resourceSnapshot } from '../../api/resource-snapshot.ts';
import { namespaceResource } from '../../api/resources.ts';
import type { Target, Transport } from '../../api/transport.ts';
import { work } from '../../api/work.ts';
import { type Checker, changeChecker, conditionsAreOfTheirObject, noWriteLost, type Sight } from '../../sim/check.ts';
import { usualRates } from '../../sim/faults.ts';
import type { Scenario } from '../../sim/scenario.ts';
import type { Readable } from '../../sim/server.ts';
import { administrator, apiServer } from './api-server.ts';
import { configMaps } from './config-maps.ts';
import { agentActor, ensure, hubActor, identityOf, join, ledHubActor, placedKinds } from './fleet.ts';
import { person } from './person.ts';
import { deployments, imageOf, isBad, isUp, workloadsActor } from './workloads.ts';

const MEMBERS = ['c1', 'c2', 'c3'];
const HUBS = ['hub-1', 'hub-2'];
const FAULT_MS = 120_000;
const SILENCE_MS = 60_000;
const PERIOD_SECONDS = 30;
const MAX_UNAVAILABLE = 1;
const SHOP = 'shop';

export const deliveryScenario = ({ isLed }: { readonly isLed: boolean }): Scenario => ({
  name: isLed ? 'delivery' : 'delivery-two-leaders',
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_800_000,
  steps: 200_000,
  ciRuns: 40,
  set(world) {
    const kinds = placedKinds();
    world.server('hub', apiServer({ kinds: hubKinds, isDurable: world.seed % 5 === 0 }));
    const asAdmin = { server: 'hub', as: administrator };
    world.actor('user', person({ forMs: FAULT_MS - 10_000, pauseMs: 9_000, deed: release() }), {
      servers: { hub: asAdmin },
      steady: true,
    });
    for (const name of HUBS) {
      world.actor(name, isLed ? ledHubActor(name, {}, kinds) : hubActor({}, kinds), { servers: { hub: asAdmin } });
    }
    for (const name of MEMBERS) {
      world.server(name, apiServer({ kinds: memberKinds }));
      const own = { server: name, as: administrator };
      world.actor(`${name}-agent`, agentActor(name, kinds), {
        servers: { hub: { server: 'hub', as: identityOf(name) }, member: own },
      });
      world.actor(`${name}-workloads`, workloadsActor, { servers: { member: own }, steady: true });
      world.actor(`${name}-owner`, person({ forMs: 20_000, pauseMs: 5_000, deed: ownThings() }), {
        servers: { hub: own },
        steady: true,
      });
    }
    world.check(noWriteLost());
    world.check(conditionsAreOfTheirObject());
    world.check(budgetIsKept());
    world.check(healthIsOfTheRevision);
    world.check(foreignThingsStay);
    return () => unsettled(world);
  },
});

// ---- what people do

type Roll = (sides: number) => number;

const shop = (what: KubeObject): KubeObject => ({ ...what, metadata: { ...what.metadata, namespace: SHOP } });

const deployment = (image: string): KubeObject =>
  shop({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  });

const thePlacement: KubeObject = {
  apiVersion: apiVersionOf(placement.cluster.group, placement.cluster.version),
  kind: placement.cluster.kind,
  metadata: { name: SHOP },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: SHOP }],
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: MAX_UNAVAILABLE } },
  },
};

/** Joins the members, places the shop, then releases one image after the other, and meddles. */
function release() {
  let version = 0;
  let isBegun = false;
  return async (api: Transport, roll: Roll): Promise<void> => {
    if (!isBegun) {
      for (const name of MEMBERS) await join(api, name, PERIOD_SECONDS);
      await ensure(
        api,
        { resource: namespaceResource },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } },
      );
      await ensure(api, { resource: deployments, namespace: SHOP }, deployment('web:0'));
      await ensure(api, { resource: placement.cluster }, thePlacement);
      isBegun = true;
      return;
    }
    const of = MEMBERS[roll(MEMBERS.length)] as string;
    const workAt: Target = { resource: work, namespace: memberNamespace(of), name: `${SHOP}-work` };
    switch (roll(8)) {
      case 0: {
        const path = '/spec/workload/manifests/1/spec/template/spec/containers/0/image';
        const body = [{ op: 'replace', path, value: EDITED }];
        await api.call({ verb: 'patch', at: workAt, patch: { type: 'json', body }, manager: 'user' });
        return;
      }
      case 1: {
        const body = { metadata: { labels: { [labels.parentBinding]: null } } };
        await api.call({ verb: 'patch', at: workAt, patch: { type: 'merge', body }, manager: 'user' });
        return;
      }
      default: {
        const image = roll(4) === 0 ? `web:bad-${++version}` : `web:${++version}`;
        const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
        const at = { resource: deployments, namespace: SHOP, name: 'web' };
        await api.call({ verb: 'patch', at, patch: { type: 'strategic', body }, manager: 'user' });
      }
    }
  };
}

const FOREIGN = 'not-yours';
const EDITED = 'web:edited';

/** The owner of a member has things of their own, some of them in a namespace that is placed. */
function ownThings() {
  return async (member: Transport, roll: Roll): Promise<void> => {
    const namespace = roll(2) === 0 ? 'default' : SHOP;
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: FOREIGN, namespace },
      data: { mine: 'yes' },
    };
    await ensure(member, { resource: configMaps, namespace }, object);
  };
}

// ---- what can be seen

const isGone = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

function isAvailable({ metadata, status }: Binding): boolean {
  const available = conditionOf(status?.conditions, 'Available');
  return available?.status === 'True' && available.observedGeneration === metadata.generation;
}

const deploymentOn = (sight: Sight, member: string): KubeObject | undefined =>
  sight.store(member)?.get(`apps/deployments/${SHOP}/web`)?.object();

// ---- what must hold

/** Of the clusters that we moved, and that were available before, only so many have not become available again. */
function budgetIsKept(): Checker {
  /** Bindings that lost an available copy because of us. */
  const taken = new Set<string>();
  return changeChecker('the budget is kept', ({ key, stored, previous, deleted }, server) => {
    const now = stored.object() as Binding;
    if (server !== 'hub' || now.kind !== binding.cluster.kind) return undefined;
    if (deleted || isAvailable(now)) taken.delete(key);
    const before = previous?.object() as Binding | undefined;
    const isMoved = before !== undefined && before.spec.resourceSnapshotName !== now.spec.resourceSnapshotName;
    if (deleted || !isMoved || !isAvailable(before)) return undefined;
    taken.add(key);
    if (taken.size <= MAX_UNAVAILABLE) return undefined;
    return `${now.spec.targetCluster} was moved to ${now.spec.resourceSnapshotName}: ${[...taken].join(', ')} were taken at once`;
  });
}

/** A binding becomes available when its cluster really runs what the binding's snapshot says. */
const healthIsOfTheRevision: Checker = changeChecker(
  'health is of the revision',
  ({ stored, previous, deleted }, server, sight) => {
    const now = stored.object() as Binding;
    if (server !== 'hub' || deleted || now.kind !== binding.cluster.kind || !isAvailable(now)) return undefined;
    if (previous !== undefined && isAvailable(previous.object() as Binding)) return undefined;
    const cluster = now.spec.targetCluster;
    const live = deploymentOn(sight, cluster);
    const image = imageIn(sight.store('hub'), now.spec.resourceSnapshotName);
    // A member that is down cannot be looked at; a Work that was just edited by hand is put right soon.
    if (live === undefined || image === undefined || imageOf(live) === EDITED) return undefined;
    if (imageOf(live) === image && isUp(live)) return undefined;
    return `${cluster} is called available with ${image}, but has ${imageOf(live)}${isUp(live) ? '' : ' and is not up'}`;
  },
);

function imageIn(store: Readable | undefined, snapshot: string): string | undefined {
  const kind = resourceSnapshot.cluster;
  const found = store?.get(`${kind.group}/${kind.plural}//${snapshot}`)?.object() as ResourceSnapshot | undefined;
  const web = found?.spec.selectedResources.find((each) => each.kind === 'Deployment');
  return web && imageOf(web);
}

const foreignThingsStay: Checker = changeChecker('foreign things stay', ({ stored, deleted, previous }, server) => {
  const now = stored.object();
  if (!MEMBERS.includes(server) || now.metadata.name !== FOREIGN || previous === undefined) return undefined;
  const { ownerReferences = [] } = now.metadata;
  if (deleted || isGone(now)) return `${now.kind} ${now.metadata.namespace}/${FOREIGN} was deleted on ${server}`;
  return ownerReferences.length > 0 ? `${FOREIGN} on ${server} was taken over` : undefined;
});

// ---- what must be so in the end

function unsettled(sight: Sight): string | undefined {
  const store = sight.store('hub');
  if (store === undefined || MEMBERS.some((name) => sight.store(name) === undefined)) return 'a server is down';
  const wanted = store.get(`apps/deployments/${SHOP}/web`)?.object();
  const key = `${placement.cluster.group}/${placement.cluster.plural}//${SHOP}`;
  const placed = store.get(key)?.object() as Placement | undefined;
  if (wanted === undefined || placed === undefined) return 'the user never got through';
  const image = imageOf(wanted);
  const live = MEMBERS.map((name) => ({ name, web: deploymentOn(sight, name) }));
  const missing = live.find(({ web }) => web === undefined);
  if (missing !== undefined) return `${missing.name} has nothing`;
  const on = live.filter(({ web }) => imageOf(web as KubeObject) === image).map(({ name }) => name);
  if (!isBad(image)) {
    const behind = live.find(({ web }) => imageOf(web as KubeObject) !== image || !isUp(web as KubeObject));
    if (behind !== undefined) return `${behind.name} is not on ${image}`;
    return statusIs(placed, 'Available', 'True');
  }
  if (on.length < MAX_UNAVAILABLE) return `nobody tries ${image}`;
  // Clusters that were down already may all be given something else, even if that does not help either.
  if (on.length === MEMBERS.length) return statusIs(placed, 'Available', 'False');
  return statusIs(placed, 'RolloutStarted', 'False') ?? holdsName(placed, on);
}

function statusIs({ metadata, status }: Placement, suffix: string, wanted: string): string | undefined {
  const condition = conditionOf(status?.conditions, `${placement.cluster.kind}${suffix}`);
  if (condition?.status === wanted && condition.observedGeneration === metadata.generation) return undefined;
  return `the placement says ${suffix} ${condition?.status ?? 'nothing'} (${condition?.message ?? ''})`;
}

/** Whoever waits, waits for a cluster that really has what cannot work. */
function holdsName({ status }: Placement, culprits: readonly string[]): string | undefined {
  const holds: readonly HoldEntry[] = status?.holds ?? [];
  const budget = holds.find(({ code }) => code === 'BudgetUsed');
  if (budget === undefined) return `no hold says why nothing moves: ${JSON.stringify(holds)}`;
  const waiting = MEMBERS.filter((name) => !culprits.includes(name));
  const isTrue = culprits.includes(budget.on?.name ?? '') && waiting.every((name) => budget.clusters?.includes(name));
  return isTrue ? undefined : `the hold names ${budget.on?.name} for ${budget.clusters?.join(', ')}`;
}
