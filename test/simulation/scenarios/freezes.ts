// Freezes that begin, change and end at any time, while content, the policy and the apply strategy change, under all
// faults. The seed determines the strategy of the placement: RollingUpdate, Partitioned, or External with staged update
// runs.
//
// Invariants: nothing is updated or removed on a cluster that a freeze covers, and when all freezes are over everything
// moves.
import { type FreezeSpec, freeze as freezes } from '../../../src/api/freeze.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { apiVersionOf } from '../../../src/api/object.ts';
import type { StagedUpdateRun } from '../../../src/api/staged-update-run.ts';
import type { Transport } from '../../../src/api/transport.ts';
import { kubeTime } from '../../../src/base/clock.ts';
import { clusterFamily } from '../../../src/hub/families.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../../src/sim/world.ts';
import { administrator } from './api-server.ts';
import { ensure } from './fleet.ts';
import { nothingMovesWhileFrozen } from './freeze-checks.ts';
import { person } from './person.ts';
import {
  APP,
  bindingsIn,
  type Deed,
  merge,
  notEverywhere,
  placed,
  type Roll,
  release,
  settleFleet,
} from './rollout-world.ts';

const CALM_MS = 15_000;
const FAULT_MS = 500_000;
const SILENCE_MS = 45_000;
const DAZED_MS = SILENCE_MS + 30_000;
/** Small compared with the freezes, whose ends depend on clocks with this skew. */
const SKEW_MS = 2_000;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 300_000;
export const MEMBERS = { c1: { part: 'a' }, c2: { part: 'a' }, c3: { part: 'b' }, c4: { part: 'b' } };
export const CLUSTERS = Object.keys(MEMBERS);
const partOf = (cluster: string): string | undefined => (MEMBERS as Record<string, { part: string }>)[cluster]?.part;
const part = (name: string) => ({ matchLabels: { part: name } });

export const STRATEGIES = [
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1, unavailablePeriodSeconds: 1 } },
  {
    type: 'Partitioned',
    partitioned: {
      partitions: ['a', 'b'].map((name) => ({ name, maxUnavailable: 1, clusterSelector: part(name) })),
    },
  },
  { type: 'External' },
] as const;

const isRunDriven = (seed: number): boolean => STRATEGIES[seed % STRATEGIES.length]?.type === 'External';

export const freezesScenario: Scenario = {
  name: 'freezes',
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS, clockSkewMs: SKEW_MS },
  dazedMs: DAZED_MS,
  healMs: 1_200_000,
  steps: 200_000,
  ciRuns: 120,
  set(world) {
    const strategy = STRATEGIES[world.seed % STRATEGIES.length] as object;
    settleFleet(world, {
      members: MEMBERS,
      isLed: true,
      strategy,
      isSteady: true,
      forMs: FAULT_MS - 5_000,
      pauseMs: 14_000,
      deed: changes(world),
    });
    const deed = helper(world);
    world.actor('helper', person({ forMs: FAULT_MS + DAZED_MS + 900_000, pauseMs: 14_000, deed }), {
      servers: { hub: { server: 'hub', as: administrator } },
      steady: true,
    });
    world.check(nothingMovesWhileFrozen({ placement: APP, partOf, skewMs: SKEW_MS }));
    return () => unsettled(world);
  },
};

// ---- users

const typed = (resource: { group: string; version: string; kind: string }, object: object): KubeObject =>
  ({ apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind, ...object }) as KubeObject;

const freezesFrom = async (api: Transport): Promise<readonly KubeObject[]> =>
  (await api.call({ verb: 'list', at: { resource: freezes } })).list?.items ?? [];

/** The type of a policy is immutable, so all of them pick by labels. */
export const picking = (names: readonly string[]) => ({
  placementType: 'PickAll',
  affinity: {
    clusterAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        clusterSelectorTerms: [
          { labelSelector: { matchExpressions: [{ key: 'cluster', operator: 'In', values: names }] } },
        ],
      },
    },
  },
});

const pickedBy = ({ spec }: KubeObject): readonly string[] => {
  const { policy } = spec as { policy?: Partial<ReturnType<typeof picking>> };
  const terms = policy?.affinity?.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms;
  return terms?.[0]?.labelSelector.matchExpressions[0]?.values ?? CLUSTERS;
};

function changes(world: World): Deed {
  const next = release();
  let count = 0;
  const endIn = (roll: Roll) => kubeTime(world.clock.now() + SHORTEST_MS + roll(LONGEST_MS - SHORTEST_MS));
  const begin = (api: Transport, roll: Roll) => {
    const spec: FreezeSpec = {
      reason: 'trouble',
      ...(roll(3) === 0 ? {} : { until: endIn(roll) }),
      ...(roll(3) === 0 ? { clusterSelector: part(roll(2) === 0 ? 'a' : 'b') } : {}),
      ...(roll(3) === 0 ? { placements: [{ name: roll(4) === 0 ? 'another' : APP }] } : {}),
    };
    return ensure(api, { resource: freezes }, typed(freezes, { metadata: { name: `f-${++count}` }, spec }));
  };
  const oneOf = async (api: Transport, roll: Roll) => {
    const known = await freezesFrom(api);
    const found = known[roll(Math.max(1, known.length))];
    return found && { resource: freezes, name: found.metadata.name ?? '' };
  };
  return async (api, roll) => {
    switch (roll(14)) {
      case 0:
        return begin(api, roll);
      case 1: {
        const at = await oneOf(api, roll);
        if (at !== undefined) await api.call({ verb: 'delete', at });
        return;
      }
      case 2: {
        const at = await oneOf(api, roll);
        return at && merge(api, at, { spec: { until: roll(3) === 0 ? null : endIn(roll) } });
      }
      case 3:
      case 4:
      case 5: {
        const some = CLUSTERS.filter(() => roll(2) === 0);
        return merge(api, placed, { spec: { policy: picking(some.length === 0 ? CLUSTERS : some) } });
      }
      case 6:
        return merge(api, placed, {
          spec: { strategy: { applyStrategy: { whenToTakeOver: roll(2) === 0 ? 'Always' : 'IfNoDiff' } } },
        });
      default:
        return next(api, roll, false);
    }
  };
}

const { run: runs, strategy: strategies } = clusterFamily;

const isOver = ({ status }: StagedUpdateRun): boolean => conditionOf(status?.conditions, 'Succeeded') !== undefined;

/** Creates runs where only runs move clusters, and ends the last freezes. */
function helper(world: World): Deed {
  let count = 0;
  const stages = ['a', 'b'].map((name) => ({ name, labelSelector: part(name), maxConcurrency: 1 }));
  return async (api) => {
    if (world.clock.now() > WORLD_START_MS + FAULT_MS) {
      for (const { metadata, spec } of await freezesFrom(api)) {
        const isEndless = (spec as FreezeSpec).until === undefined;
        if (isEndless) await api.call({ verb: 'delete', at: { resource: freezes, name: metadata.name ?? '' } });
      }
    }
    if (!isRunDriven(world.seed) || notDelivered(world) === undefined) return;
    const { list } = await api.call({ verb: 'list', at: { resource: runs } });
    if (!list?.items.every((each) => isOver(each as StagedUpdateRun))) return;
    await ensure(api, { resource: strategies }, typed(strategies, { metadata: { name: 's' }, spec: { stages } }));
    const spec = { placementName: APP, stagedRolloutStrategyName: 's', state: 'Run' };
    await ensure(api, { resource: runs }, typed(runs, { metadata: { name: `run-${++count}` }, spec }));
  };
}

// ---- end state

export function notDelivered(world: World): string | undefined {
  const store = world.store('hub');
  if (store === undefined) return 'the hub is down';
  const placement = store.get(`${placed.resource.group}/${placed.resource.plural}//${placed.name}`)?.object();
  if (placement === undefined) return 'the user never got through';
  const picked = pickedBy(placement);
  const extra = bindingsIn(store).find(({ spec }) => !picked.includes(spec.targetCluster));
  return notEverywhere(store, picked) ?? (extra && `${extra.spec.targetCluster} still has a binding`);
}

function unsettled(world: World): string | undefined {
  const store = world.store('hub');
  const left = store
    ?.range(`${freezes.group}/${freezes.plural}/`)
    .items.map((item) => item.object())
    .find(({ spec }) => {
      const { until } = spec as FreezeSpec;
      return until === undefined || Date.parse(until) > world.clock.now();
    });
  if (left !== undefined) return `${left.metadata.name} holds`;
  const missing = notDelivered(world);
  if (missing === undefined || store === undefined) return missing;
  const status = store.get(`${placed.resource.group}/${placed.resource.plural}//${placed.name}`)?.object().status;
  return `${missing}: ${JSON.stringify((status as { holds?: unknown } | undefined)?.holds ?? [])}`;
}
