// Evictions under a budget, executed by two active leaders that crash, lose calls and have stale caches, while bindings
// are rolled out, fail, recover and are recreated, budgets change, and evictions are deleted midway. A simulated user
// plays the scheduler, the rollout and the members.
//
// Invariants: the budget holds at every eviction, an eviction deletes at most one binding, and a final outcome never
// changes. In the end every eviction has an outcome.
import { type Binding, binding as bindingKinds } from '../../../src/api/binding.ts';
import { type DisruptionBudget, disruptionBudget } from '../../../src/api/disruption-budget.ts';
import { type Eviction, eviction as evictions } from '../../../src/api/eviction.ts';
import type { Resource } from '../../../src/api/kind.ts';
import { hubKinds } from '../../../src/api/kinds.ts';
import { annotations, finalizers, labels } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { type Placement, placement as placementKinds } from '../../../src/api/placement.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { kubeTime } from '../../../src/base/clock.ts';
import { canonicalJson, type Json } from '../../../src/base/json.ts';
import { countsOf, disruptionsAllowed } from '../../../src/hub/eviction/budget.ts';
import { evictionController } from '../../../src/hub/eviction/controller.ts';
import { clusterFamily } from '../../../src/hub/families.ts';
import type { HubBinding } from '../../../src/hub/placement-sources.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import { type Checker, changeChecker, conditionsAreOfTheirObject, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { WORLD_START_MS } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { cleanerActor } from './cleaner.ts';
import { ensure, hubIdentity } from './fleet.ts';
import { person } from './person.ts';

const CLUSTERS = ['a', 'b', 'c', 'd'];
const NAME = 'web';
const FAULT_MS = 90_000;
const SILENCE_MS = 45_000;
const LEADERS = ['hub-1', 'hub-2'];

export const evictionsScenario: Scenario = {
  name: 'evictions',
  calmMs: 2_000,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 600_000,
  steps: 40_000,
  ciRuns: 100,
  set(world) {
    world.server('hub', apiServer({ kinds: hubKinds, isDurable: world.seed % 5 === 0 }));
    world.actor('user', person({ forMs: FAULT_MS, pauseMs: 1_500, deed: disturb() }), {
      servers: { hub: { server: 'hub', as: administrator } },
      steady: true,
    });
    for (const name of LEADERS) {
      world.actor(
        name,
        (deps) => {
          const manager = startManager(deps, { controllers: [evictionController(clusterFamily)] });
          return () => manager.stop();
        },
        { servers: { hub: { server: 'hub', as: hubIdentity } } },
      );
    }
    world.actor('cleaner', cleanerActor(clusterFamily), {
      servers: { hub: { server: 'hub', as: hubIdentity } },
      steady: true,
    });
    world.check(noWriteLost());
    world.check(conditionsAreOfTheirObject());
    world.check(disruptionBudgetHolds());
    world.check(executedOnce());
    world.check(outcomesAreFinal());
    return () => {
      const store = world.store('hub');
      if (store === undefined) return 'the hub is down';
      const open = inAll<Eviction>(store, evictions).find((each) => !isOver(each));
      return open && `eviction ${open.metadata.name} has no outcome`;
    };
  },
};

// ---- the user

type Roll = (sides: number) => number;

const typed = (resource: Resource, object: object): KubeObject =>
  ({ apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind, ...object }) as KubeObject;

const { cluster: bindings } = bindingKinds;

function disturb() {
  let isSet = false;
  let count = 0;
  const patch = async (api: Transport, at: Target, body: object) =>
    void (await api.call({ verb: 'patch', at, patch: { type: 'merge', body: body as Json }, manager: 'user' }));
  /** A binding as the scheduler creates it, already rolled out. */
  const pick = (api: Transport, cluster: string) =>
    ensure(
      api,
      { resource: bindings },
      typed(bindings, {
        metadata: {
          name: `${NAME}-${cluster}-${++count}`,
          labels: { [labels.parentPlacement]: NAME },
          finalizers: [finalizers.workCleanup],
        },
        spec: {
          state: 'Bound',
          targetCluster: cluster,
          resourceSnapshotName: `${NAME}-0-snapshot`,
          schedulingPolicySnapshotName: `${NAME}-0`,
          clusterDecision: { clusterName: cluster, selected: true, reason: '' },
        },
      }),
    );
  const report = async (api: Transport, of: Binding, isAvailable: boolean) => {
    const said = (type: string, isTrue: boolean) => ({
      type,
      status: isTrue ? 'True' : 'False',
      reason: isTrue ? 'Well' : 'ResourceNotAvailableYet',
      message: '',
      observedGeneration: of.metadata.generation,
      lastTransitionTime: kubeTime(WORLD_START_MS),
    });
    const conditions = [said('Applied', true), said('Available', isAvailable)];
    const { name = '', resourceVersion } = of.metadata;
    const at: Target = { resource: bindings, name, subresource: 'status' };
    await patch(api, at, { metadata: { resourceVersion }, status: { conditions } });
  };
  const all = async (api: Transport) =>
    ((await api.call({ verb: 'list', at: { resource: bindings } })).list?.items ?? []) as readonly Binding[];
  const begin = async (api: Transport, roll: Roll) => {
    const policy =
      roll(2) === 0 ? { placementType: 'PickAll' } : { placementType: 'PickN', numberOfClusters: CLUSTERS.length };
    const resourceSelectors = [{ group: '', version: 'v1', kind: 'Namespace', name: NAME }];
    const { cluster: resource } = placementKinds;
    await ensure(api, { resource }, typed(resource, { metadata: { name: NAME }, spec: { policy, resourceSelectors } }));
    await ensure(
      api,
      { resource: disruptionBudget },
      typed(disruptionBudget, { metadata: { name: NAME }, spec: { minAvailable: 3 } }),
    );
    isSet = true;
  };
  /** Creates missing bindings, and makes all others available again. */
  const recover = async (api: Transport) => {
    const found = await all(api);
    for (const cluster of CLUSTERS) {
      const own = found.filter((each) => each.spec.targetCluster === cluster);
      const living = own.find(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (living === undefined) await pick(api, cluster);
      else await report(api, living, true);
    }
  };
  const evict = (api: Transport, cluster: string) =>
    ensure(
      api,
      { resource: evictions },
      typed(evictions, { metadata: { name: `e-${++count}` }, spec: { placementName: NAME, clusterName: cluster } }),
    );
  return async (api: Transport, roll: Roll): Promise<void> => {
    if (!isSet) await begin(api, roll);
    const cluster = CLUSTERS[roll(CLUSTERS.length)] as string;
    const found = (await all(api)).filter(
      ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.targetCluster === cluster,
    );
    switch (roll(12)) {
      case 0: {
        const at = { resource: disruptionBudget, name: NAME };
        return patch(api, at, { spec: { minAvailable: 2 + roll(2) } });
      }
      case 1: {
        // Like a rollout: unavailable until the member reports.
        for (const { metadata } of found) {
          const at = { resource: bindings, name: metadata.name ?? '' };
          await patch(api, at, { spec: { resourceSnapshotName: `${NAME}-${++count}-snapshot` } });
        }
        return;
      }
      case 2:
        for (const each of found) await report(api, each, false);
        return;
      case 3: {
        const last = { resource: evictions, name: `e-${count}` };
        await api.call({ verb: 'delete', at: last });
        return;
      }
      case 4:
      case 5:
      case 6:
      case 7:
        return recover(api);
      default: {
        await evict(api, cluster);
        // Often several at once, because each leader may start with another one.
        if (roll(2) === 0) await evict(api, CLUSTERS[roll(CLUSTERS.length)] as string);
        return;
      }
    }
  };
}

// ---- invariants

const inAll = <T extends KubeObject>(store: Readable, { group, plural }: Resource): readonly T[] =>
  store.range(`${group}/${plural}/`).items.map((item) => item.object() as T);

const isOver = ({ status }: Eviction): boolean =>
  conditionOf(status?.conditions, 'Valid')?.status === 'False' ||
  conditionOf(status?.conditions, 'Executed') !== undefined;

const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

const evictorOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[annotations.evictedBy];

/**
 * For every eviction there was a moment between its mark and its deletion at which the budget had room for it and for
 * all later evictions. Availability lost to rollouts and failures after that moment is not the eviction's fault.
 */
export function disruptionBudgetHolds(): Checker {
  const live = new Map<string, HubBinding>();
  /** The maximum room since the mark, minus later evictions; by key of the binding. */
  const room = new Map<string, number>();
  let budget: DisruptionBudget['spec'] | undefined;
  let policy: NonNullable<Placement['spec']>['policy'];
  const now = (): number => {
    if (budget === undefined) return Number.POSITIVE_INFINITY;
    return disruptionsAllowed(budget, policy, countsOf([...live.values()]));
  };
  return changeChecker('the disruption budget holds', ({ key, stored, previous, deleted }, server) => {
    if (server !== 'hub') return undefined;
    const object = stored.object();
    if (object.kind === disruptionBudget.kind) budget = deleted ? undefined : (object as DisruptionBudget).spec;
    else if (object.kind === placementKinds.cluster.kind) policy = (object as Placement).spec?.policy;
    else if (object.kind !== bindings.kind) return undefined;
    const before = previous?.object();
    const isEvicted =
      object.kind === bindings.kind &&
      isDeleting(object) &&
      before !== undefined &&
      !isDeleting(before) &&
      evictorOf(object) !== undefined;
    if (isEvicted) {
      const left = room.get(key) ?? Number.NEGATIVE_INFINITY;
      room.delete(key);
      for (const [other, found] of room) room.set(other, found - 1);
      if (left <= 0) return `${key} was evicted by ${evictorOf(object)} with room for ${left}`;
    }
    if (object.kind === bindings.kind) {
      if (deleted) live.delete(key);
      else live.set(key, clusterFamily.bindings.project?.(object as Binding) as HubBinding);
      // A new mark: only the room after it counts.
      if (deleted || isDeleting(object) || evictorOf(object) === undefined) room.delete(key);
      else if (before === undefined || evictorOf(before) !== evictorOf(object)) room.set(key, Number.NEGATIVE_INFINITY);
    }
    const free = now();
    for (const [other, found] of room) room.set(other, Math.max(found, free));
    return undefined;
  });
}

/** An eviction deletes at most one binding, and then its outcome is Executed True. */
export function executedOnce(): Checker {
  const executed = new Map<string, string>();
  return changeChecker('an eviction is executed at most once', ({ stored, previous }, server) => {
    const object = stored.object();
    if (server !== 'hub') return undefined;
    if (object.kind === evictions.kind) return denied(object as Eviction, executed);
    const by = evictorOf(object);
    if (object.kind !== bindings.kind || by === undefined) return undefined;
    const before = previous?.object();
    if (before === undefined || isDeleting(before) || !isDeleting(object)) return undefined;
    const { uid = '', name } = object.metadata;
    const other = executed.get(by);
    executed.set(by, uid);
    return other === undefined || other === uid ? undefined : `${by} has deleted a second binding, ${name}`;
  });
}

function denied(eviction: Eviction, executed: ReadonlyMap<string, string>): string | undefined {
  const { uid = '', name } = eviction.metadata;
  const isDenied = isOver(eviction) && conditionOf(eviction.status?.conditions, 'Executed')?.status !== 'True';
  return isDenied && executed.has(uid) ? `${name} has deleted a binding and does not report so` : undefined;
}

export function outcomesAreFinal(): Checker {
  return changeChecker('a final outcome never changes', ({ stored, previous }, server) => {
    const object = stored.object() as Eviction;
    if (server !== 'hub' || object.kind !== evictions.kind) return undefined;
    const before = previous?.object() as Eviction | undefined;
    if (before === undefined || !isOver(before)) return undefined;
    const [was, is] = [before, object].map(({ status }) => canonicalJson(status?.conditions ?? []));
    return was === is ? undefined : `${object.metadata.name} had ${was} and has ${is}`;
  });
}
