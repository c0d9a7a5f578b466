// Only the scheduler, in a fleet whose labels, properties, taints and health change, with policies that change as well,
// while calls are lost, watches are unreliable and the scheduler crashes. A simulated user plays the members, the
// placement controller and the rollout.
//
// In the end the pure scheduling cycle would change nothing: the bindings, and the status of the policy snapshot, are
// its decision for the existing objects.
import { hubKinds } from '../../../src/api/kinds.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { annotations, finalizers, labels } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import type { PlacementPolicy } from '../../../src/api/placement-policy.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { kubeTime } from '../../../src/base/clock.ts';
import type { Json } from '../../../src/base/json.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { type HubBinding, type HubPolicySnapshot, isLatest } from '../../../src/hub/placement-sources.ts';
import { schedulerController } from '../../../src/hub/scheduler/controller.ts';
import { cycle } from '../../../src/hub/scheduler/cycle.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import { conditionsAreOfTheirObject, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { WORLD_START_MS } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { cleanerActor } from './cleaner.ts';
import { ensure, hubIdentity } from './fleet.ts';
import { person } from './person.ts';

const MEMBERS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** By name: whether the policy is PickAll. Several placements, so that each kind of write meets each fault. */
const PLACEMENTS: Readonly<Record<string, boolean>> = { all: true, any: true, some: false, few: false };
const NAMES = Object.keys(PLACEMENTS);
const FAULT_MS = 90_000;
const SILENCE_MS = 45_000;
/** So long that no member becomes unreachable before the world ends. */
const PERIOD_SECONDS = 600;
const NODES = 'kubernetes-fleet.io/node-count';
const PLACE = 'team';
/** After this many changes only properties change: any other change would trigger a cycle that hides a missed one. */
const MANY_DEEDS = 60;

export interface SchedulingOptions {
  readonly name: string;
  readonly family: PlacementFamily;
  readonly ciRuns: number;
}

export const schedulingScenario = ({ name, family, ciRuns }: SchedulingOptions): Scenario => ({
  name,
  calmMs: 3_000,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 600_000,
  steps: 60_000,
  ciRuns,
  set(world) {
    world.server('hub', apiServer({ kinds: hubKinds }));
    world.actor('user', person({ forMs: FAULT_MS, pauseMs: 1_500, deed: meddle(family) }), {
      servers: { hub: { server: 'hub', as: administrator } },
      steady: true,
    });
    world.actor(
      'scheduler',
      (deps) => {
        const manager = startManager(deps, { controllers: [schedulerController(family)] });
        return () => manager.stop();
      },
      { servers: { hub: { server: 'hub', as: hubIdentity } } },
    );
    world.actor('cleaner', cleanerActor(family), {
      servers: { hub: { server: 'hub', as: hubIdentity } },
      steady: true,
    });
    world.check(noWriteLost());
    world.check(conditionsAreOfTheirObject());
    return () => {
      const store = world.store('hub');
      if (store === undefined) return 'the hub is down';
      return NAMES.map((each) => undecided(store, family, each, world.now)).find((each) => each !== undefined);
    };
  },
});

// ---- the user

type Roll = (sides: number) => number;

function meddle(family: PlacementFamily) {
  const world = theWorld(family);
  let isSet = false;
  let deeds = 0;
  return async (api: Transport, roll: Roll): Promise<void> => {
    if (!isSet) await world.begin(api, roll);
    isSet = true;
    const name = MEMBERS[roll(MEMBERS.length)] as string;
    const placement = NAMES[roll(NAMES.length)] as string;
    deeds++;
    switch (roll(deeds > MANY_DEEDS ? 3 : 10)) {
      case 0:
      case 1:
      case 2:
        return world.change(api, name, { status: world.numbers(roll) }, 'status');
      case 3:
        return world.change(api, name, { metadata: { labels: world.labels(roll) } });
      case 4: {
        const taints = roll(2) === 0 ? null : [{ key: 'busy', value: 'yes', effect: 'NoSchedule' }];
        return world.change(api, name, { spec: { taints } });
      }
      case 5:
        return world.change(api, name, { status: { agentStatus: roll(3) === 0 ? [] : world.agent() } }, 'status');
      case 6:
        return world.policy(api, placement, roll);
      case 7:
        return world.count(api, placement, roll);
      case 8:
        return world.roll(api, placement, roll);
      default:
        return roll(3) === 0 ? world.leave(api, name) : world.join(api, name, roll);
    }
  };
}

function theWorld(family: PlacementFamily) {
  const within = family.placement.namespaced ? { namespace: PLACE } : {};
  const index = new Map<string, number>();
  const typed = (resource: PlacementFamily['placement'], object: object): KubeObject =>
    ({ apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind, ...object }) as KubeObject;
  const patch = async (api: Transport, at: Target, body: object): Promise<void> =>
    void (await api.call({ verb: 'patch', at, patch: { type: 'merge', body: body as Json }, manager: 'user' }));
  const bindingsOf = async (api: Transport, placement: string): Promise<readonly KubeObject[]> =>
    (
      await api.call({
        verb: 'list',
        at: { resource: family.binding, ...within },
        labels: `${labels.parentPlacement}=${placement}`,
      })
    ).list?.items ?? [];

  const made = {
    labels: (roll: Roll) => ({ env: ['prod', 'canary'][roll(2)], region: ['x', 'y', 'z'][roll(3)] }),
    numbers: (roll: Roll) => ({
      properties: { [NODES]: { value: String(roll(8)), observationTime: kubeTime(WORLD_START_MS) } },
      resourceUsage: { available: { cpu: String(roll(8)) } },
    }),
    agent: () => [
      {
        type: 'MemberAgent',
        lastReceivedHeartbeat: kubeTime(WORLD_START_MS),
        conditions: ['Joined', 'Healthy'].map((type) => ({
          type,
          status: 'True',
          reason: 'Well',
          message: '',
          lastTransitionTime: kubeTime(WORLD_START_MS),
        })),
      },
    ],
    change: (api: Transport, name: string, body: object, subresource?: 'status') =>
      patch(api, { resource: memberCluster, name, ...(subresource && { subresource }) }, body),
    async join(api: Transport, name: string, roll: Roll) {
      const spec = { identity: { kind: 'User', name }, heartbeatPeriodSeconds: PERIOD_SECONDS };
      const object = typed(memberCluster, { metadata: { name, labels: made.labels(roll) }, spec });
      await ensure(api, { resource: memberCluster }, object);
      await made.change(api, name, { status: { agentStatus: made.agent(), ...made.numbers(roll) } }, 'status');
    },
    leave: async (api: Transport, name: string) =>
      void (await api.call({ verb: 'delete', at: { resource: memberCluster, name } })),
    async begin(api: Transport, roll: Roll) {
      if (family.placement.namespaced) {
        const namespaces = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
        await ensure(api, { resource: namespaces }, typed(namespaces, { metadata: { name: PLACE } }));
      }
      for (const name of MEMBERS.slice(0, 5)) await made.join(api, name, roll);
      for (const name of NAMES) {
        const kind = family.placement.namespaced ? 'ConfigMap' : 'Namespace';
        const spec = { resourceSelectors: [{ group: '', version: 'v1', kind, name: 'app' }] };
        const metadata = { name, ...within, finalizers: [finalizers.placementCleanup] };
        await ensure(api, { resource: family.placement, ...within }, typed(family.placement, { metadata, spec }));
        await made.policy(api, name, roll);
      }
    },
    /** Like the placement controller: creates the new snapshot first, then marks the old one. */
    async policy(api: Transport, name: string, roll: Roll) {
      const at = (index.get(name) ?? -1) + 1;
      const policy = PLACEMENTS[name] ? anyPickAll(roll) : anyPickN(roll);
      const metadata = {
        name: `${name}-${at}`,
        ...within,
        labels: { [labels.parentPlacement]: name, [labels.isLatestSnapshot]: 'true', [labels.policyIndex]: String(at) },
        annotations: {
          [annotations.placementGeneration]: String(at + 1),
          ...(PLACEMENTS[name] ? {} : { [annotations.numberOfClusters]: String(roll(4)) }),
        },
      };
      const object = typed(family.policySnapshot, { metadata, spec: { policy, policyHash: 'aGFzaA==' } });
      await ensure(api, { resource: family.policySnapshot, ...within }, object);
      index.set(name, at);
      if (at === 0) return;
      const old = { resource: family.policySnapshot, ...within, name: `${name}-${at - 1}` };
      await patch(api, old, { metadata: { labels: { [labels.isLatestSnapshot]: 'false' } } });
    },
    async count(api: Transport, name: string, roll: Roll) {
      // A change of the placement that does not affect the cycle.
      const own = { resource: family.placement, ...within, name };
      if (PLACEMENTS[name]) return patch(api, own, { metadata: { labels: { edit: String(roll(100)) } } });
      const at = { resource: family.policySnapshot, ...within, name: `${name}-${index.get(name) ?? 0}` };
      await patch(api, at, { metadata: { annotations: { [annotations.numberOfClusters]: String(roll(5)) } } });
    },
    /** Like the rollout and evictions. */
    async roll(api: Transport, name: string, roll: Roll) {
      const bindings = await bindingsOf(api, name);
      const binding = bindings[roll(Math.max(1, bindings.length))];
      if (binding === undefined) return;
      const { state } = binding.spec as HubBinding['spec'];
      const at = { resource: family.binding, ...within, name: binding.metadata.name ?? '' };
      if (state === 'Unscheduled' || roll(3) === 0) await api.call({ verb: 'delete', at });
      else await patch(api, at, { spec: { state: 'Bound', resourceSnapshotName: `${name}-0-snapshot` } });
    },
  };
  return made;
}

const required = (roll: Roll) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    clusterSelectorTerms: [
      {
        ...(roll(2) === 0 ? {} : { labelSelector: { matchLabels: { env: 'prod' } } }),
        propertySelector: { matchExpressions: [{ name: NODES, operator: 'Ge' as const, values: [String(roll(8))] }] },
      },
    ],
  },
});

const anyPickAll = (roll: Roll): PlacementPolicy => ({
  placementType: 'PickAll',
  ...(roll(4) === 0 ? {} : { affinity: { clusterAffinity: required(roll) } }),
});

const anyPickN = (roll: Roll): PlacementPolicy => ({
  placementType: 'PickN',
  affinity: {
    clusterAffinity: {
      ...(roll(2) === 0 ? {} : required(roll)),
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 50,
          preference: {
            propertySorter: { name: 'resources.kubernetes-fleet.io/available-cpu', sortOrder: 'Descending' as const },
          },
        },
      ],
    },
  },
  ...(roll(2) === 0
    ? {}
    : {
        topologySpreadConstraints: [
          { topologyKey: 'region', maxSkew: 1, whenUnsatisfiable: roll(2) === 0 ? 'DoNotSchedule' : 'ScheduleAnyway' },
        ],
      }),
});

// ---- end state

function undecided(store: Readable, family: PlacementFamily, name: string, now: number): string | undefined {
  const inAll = ({ group, plural }: PlacementFamily['placement']) =>
    store.range(`${group}/${plural}/`).items.map((item) => item.object());
  const isOurs = ({ metadata }: KubeObject) => metadata.labels?.[labels.parentPlacement] === name;
  const snapshots = inAll(family.policySnapshot)
    .filter(isOurs)
    .map((each) => family.policySnapshots.project?.(each) as HubPolicySnapshot)
    .filter(isLatest);
  const [snapshot] = snapshots;
  // The user was stopped midway, so the intended policy is unknown.
  if (snapshot === undefined || snapshots.length > 1) return undefined;
  const bindings = inAll(family.binding)
    .filter(isOurs)
    .map((each) => family.bindings.project?.(each) as HubBinding);
  const held = bindings.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (held !== undefined) return `binding ${held.metadata.name} is not let go`;
  const members = inAll(memberCluster) as readonly MemberCluster[];
  const wanted = Number(snapshot.metadata.annotations?.[annotations.numberOfClusters] ?? 0);
  const outcome = cycle({
    policy: snapshot.spec.policy,
    numberOfClusters: wanted,
    snapshot: snapshot.metadata.name ?? '',
    ...(family.placement.namespaced ? { namespace: PLACE } : {}),
    members,
    bindings,
    now,
  });
  const [pick] = outcome.picks;
  if (pick !== undefined) return `${name}: ${pick.decision.clusterName} is to be picked`;
  const [surplus] = outcome.unschedule;
  if (surplus !== undefined) return `${name}: ${surplus.spec.targetCluster} is to be given up`;
  return misreported(snapshot, outcome.kept, name, outcome.found >= outcome.wanted);
}

function misreported(
  { status, metadata }: HubPolicySnapshot,
  kept: readonly HubBinding[],
  name: string,
  isFulfilled: boolean,
): string | undefined {
  const said = conditionOf(status?.conditions, 'Scheduled');
  if (said?.status !== (isFulfilled ? 'True' : 'False')) return `${name}: Scheduled is ${said?.status}`;
  if (String(status?.observedCRPGeneration) !== metadata.annotations?.[annotations.placementGeneration]) {
    return `${name}: the generation is not followed`;
  }
  const selected = (status?.targetClusters ?? []).filter((each) => each.selected).map(({ clusterName }) => clusterName);
  const live = kept.map(({ spec }) => spec.targetCluster);
  return selected.toSorted().join() === live.toSorted().join()
    ? undefined
    : `${name}: ${selected} is reported, ${live} is there`;
}
