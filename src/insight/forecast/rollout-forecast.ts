// Forecasts the rollout of a placement: the hub's own decisions on copied bindings with a simulated clock. Pure;
// nothing is written. Assumptions: a reachable cluster is available after `durationMs`, an unreachable one stays as it
// is, and the fleet does not change.
import type { Binding } from '../../api/binding.ts';
import type { Hold } from '../../api/hold.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import { kubeTime } from '../../base/clock.ts';
import type { PlacementFamily } from '../../hub/families.ts';
import { revisionOn } from '../../hub/orders/order.ts';
import { type Overriding, ordersFor } from '../../hub/orders/orders-for.ts';
import type { HubBinding, HubPolicySnapshot } from '../../hub/placement-sources.ts';
import type { ClusterGroupFacts } from '../../hub/planners/partitioned.ts';
import { type MemberFacts, memberFactsOf } from '../../hub/planners/rows.ts';
import { decide, type Observed } from '../../hub/rollout/decide.ts';
import { planOf } from '../../hub/strategies/plan.ts';
import type { PlannedPartition } from '../../hub/strategies/strategy.ts';
import { createScratchStore, type ScratchStore } from './scratch-store.ts';

export interface RolloutGround {
  readonly family: PlacementFamily;
  /** It need not exist on the hub yet. */
  readonly placement: Placement;
  readonly bindings: readonly KubeObject[];
  /** The master snapshot of the revision that is rolled out; its metadata is enough. */
  readonly newest: KubeObject;
  readonly policySnapshot: HubPolicySnapshot | undefined;
  readonly members: readonly MemberCluster[];
  /** The overrides in force with the revision; absent = none. */
  readonly overriding?: Overriding | undefined;
  /** undefined = they cannot be read. */
  readonly groups: readonly ClusterGroupFacts[] | undefined;
  /** How long a cluster takes from the change until it is available. */
  readonly durationMs: number;
  readonly now: number;
}

export interface RolloutWave {
  readonly clusters: readonly string[];
  /** The placement is removed from these clusters. */
  readonly removes: boolean;
  /** Since the start. */
  readonly afterMs: number;
  /** For a partitioned rollout: the partitions with a cluster in the wave, by name. */
  readonly partitions?: readonly string[];
}

export interface RolloutForecast {
  /** `waits`: it would wait for something that only others can provide. */
  readonly end: 'completes' | 'waits';
  readonly waves: readonly RolloutWave[];
  readonly partitions: readonly PlannedPartition[];
  /** The holds at the end, and the ones before anything moves. */
  readonly holds: readonly Hold[];
  readonly firstHolds: readonly Hold[];
  readonly tookMs: number;
}

/** Enough for the moves, reports and answers of a cluster: a forecast that needs more would not end. */
const PASSES_PER_CLUSTER = 8;

export function forecastRollout(ground: RolloutGround): RolloutForecast {
  const { family, bindings } = ground;
  const world = createScratchStore(bindings);
  const begin = Math.floor(ground.now / 1000) * 1000;
  const answers = createAnswers(ground, world);
  const partitions = partitionsAt(ground, world, begin);
  const partitionOf = new Map<string, string[]>();
  for (const { name, clusters } of partitions)
    for (const cluster of clusters) partitionOf.set(cluster, [...(partitionOf.get(cluster) ?? []), name]);
  const waves: RolloutWave[] = [];
  let firstHolds: readonly Hold[] | undefined;
  let now = begin;
  let holds: readonly Hold[] = [];
  const max = PASSES_PER_CLUSTER * (bindings.length + 20);
  for (let pass = 0; pass < max; pass++) {
    const before = bindingsIn(world, family);
    const decision = decide(observe(ground, world, now));
    holds = decision.holds;
    firstHolds ??= holds;
    const isWritten = world.perform(decision.steps, now);
    answers.leave(before, now);
    const after = bindingsIn(world, family);
    noteWaves(before, after, { waves, partitionOf, afterMs: now - begin });
    answers.ask(now);
    // A binding that is gone makes room for others.
    if (isWritten && (decision.again === 'at once' || after.length < before.length)) continue;
    const next = Math.min(answers.next(), (decision.wakeAt ?? 0) > now ? (decision.wakeAt as number) : Infinity);
    if (next === Infinity) {
      if (isWritten) continue;
      break;
    }
    now = next;
    answers.give(now);
  }
  const isDone = holds.length === 0;
  return {
    end: isDone ? 'completes' : 'waits',
    waves,
    partitions,
    holds,
    firstHolds: firstHolds ?? [],
    tookMs: now - begin,
  };
}

const bindingsIn = (world: ScratchStore, { binding }: PlacementFamily) => world.all(binding.kind) as readonly Binding[];

function observe(ground: RolloutGround, world: ScratchStore, now: number): Observed {
  const { family, newest, policySnapshot, groups, overriding } = ground;
  const placement = family.placements.project?.(ground.placement) as Observed['placement'];
  const byName = new Map(ground.members.map((each) => [each.metadata.name ?? '', each]));
  const bindings = bindingsIn(world, family).map((each) => family.bindings.project?.(each) as HubBinding);
  return {
    family,
    placement,
    bindings,
    newest: family.resourceSnapshots.project?.(newest) as Observed['newest'],
    orders: ordersFor({
      placement,
      snapshot: newest.metadata.name ?? '',
      overriding,
    }),
    policySnapshot: policySnapshot && decidedFor(policySnapshot, bindings),
    member(cluster) {
      const member = byName.get(cluster);
      return member && memberFactsOf(member);
    },
    groups,
    now,
  };
}

/** A forecast assumes that the scheduler is done: it has decided on all clusters that have a binding here. */
const decidedFor = (snapshot: HubPolicySnapshot, bindings: readonly HubBinding[]): HubPolicySnapshot => ({
  ...snapshot,
  status: {
    ...snapshot.status,
    targetClusters: bindings
      .filter(({ spec }) => spec.state !== 'Unscheduled')
      .map(({ spec }) => ({ clusterName: spec.targetCluster, selected: true, reason: '' })),
  } as NonNullable<HubPolicySnapshot['status']>,
});

/** The partitions of the first pass; empty with other strategies. */
function partitionsAt(ground: RolloutGround, world: ScratchStore, now: number): readonly PlannedPartition[] {
  const { orders, ...observed } = observe(ground, world, now);
  return (orders && planOf({ ...observed, orders })?.plan.partitions) ?? [];
}

interface Noting {
  readonly waves: RolloutWave[];
  readonly partitionOf: ReadonlyMap<string, readonly string[]>;
  readonly afterMs: number;
}

const overridesOf = (spec: Binding['spec'] | undefined): string =>
  (spec && revisionOn(spec as HubBinding['spec'])?.overrides) ?? '';

function noteWaves(before: readonly Binding[], after: readonly Binding[], noting: Noting): void {
  const { waves, partitionOf, afterMs } = noting;
  const has = new Map(before.map(({ metadata, spec }) => [metadata.name, spec]));
  const isLeaving = ({ metadata }: Binding): boolean => metadata.deletionTimestamp !== undefined;
  const kept = new Set(after.filter((each) => !isLeaving(each)).map(({ metadata }) => metadata.name));
  const note = (clusters: readonly string[], removes: boolean) => {
    if (clusters.length === 0) return;
    const partitions = [...new Set(clusters.flatMap((cluster) => partitionOf.get(cluster) ?? []))];
    waves.push({ clusters, removes, afterMs, ...(partitions.length === 0 || removes ? {} : { partitions }) });
  };
  note(
    after
      .filter(({ metadata, spec }) => {
        const old = has.get(metadata.name);
        return (
          spec?.resourceSnapshotName !== old?.resourceSnapshotName ||
          overridesOf(spec) !== overridesOf(old) ||
          (spec?.state === 'Bound' && old?.state !== 'Bound')
        );
      })
      .map(({ spec }) => spec?.targetCluster ?? ''),
    false,
  );
  note(
    before
      .filter((each) => !isLeaving(each) && !kept.has(each.metadata.name))
      .map(({ spec }) => spec?.targetCluster ?? ''),
    true,
  );
}

// ---- reports of members

function createAnswers({ family, members, durationMs }: RolloutGround, world: ScratchStore) {
  const namesOf = (isWanted: (facts: MemberFacts) => boolean) =>
    new Set(members.filter((each) => isWanted(memberFactsOf(each))).map(({ metadata }) => metadata.name ?? ''));
  const reachable = namesOf((facts) => facts.reachable);
  const silent = namesOf((facts) => !facts.reachable && facts.leaving !== true);
  /** By binding name: the released generation, and when it is available. */
  const due = new Map<string, { readonly generation: number | undefined; readonly at: number }>();
  const types = ({ spec }: Binding) =>
    spec?.applyStrategy?.type === 'ReportDiff' ? ['DiffReported'] : ['Applied', 'Available'];
  const isReported = (binding: Binding): boolean =>
    types(binding).every((type) => {
      const condition = conditionOf(binding.status?.conditions, type);
      return condition !== undefined && condition.observedGeneration === binding.metadata.generation;
    });
  return {
    /**
     * The copy on an unreachable member stays, and so does its binding, which is being deleted. Nothing is waited for on
     * a member that leaves or is deleted.
     */
    leave(before: readonly Binding[], now: number): void {
      for (const binding of before) {
        const { metadata, spec: { targetCluster = '', resourceSnapshotName: has = '' } = {} } = binding;
        const isKept = world.find(family.binding.kind, metadata.name ?? '') !== undefined;
        if (isKept || has === '' || !silent.has(targetCluster)) continue;
        world.put({ ...binding, metadata: { ...metadata, deletionTimestamp: kubeTime(now) } });
      }
    },
    ask(now: number): void {
      for (const binding of bindingsIn(world, family)) {
        const { name = '', generation } = binding.metadata;
        if (binding.spec?.state !== 'Bound' || !reachable.has(binding.spec.targetCluster)) continue;
        if (isReported(binding) || due.get(name)?.generation === generation) continue;
        due.set(name, { generation, at: now + durationMs });
      }
    },
    next: (): number => Math.min(Infinity, ...[...due.values()].map(({ at }) => at)),
    give(now: number): void {
      for (const [name, { generation, at }] of [...due]) {
        if (at > now) continue;
        due.delete(name);
        const binding = world.find(family.binding.kind, name) as Binding | undefined;
        if (binding === undefined || binding.metadata.generation !== generation) continue;
        const { conditions = [], failedPlacements: _failed, ...status } = binding.status ?? {};
        const told = ['RolloutStarted', ...types(binding)].map((type) => ({
          ...nextCondition(undefined, { type, status: 'True', reason: 'Forecast', message: '' }, now),
          ...(generation === undefined ? {} : { observedGeneration: generation }),
        }));
        const ofOld = new Set(['Overridden', 'WorkSynchronized', ...told.map(({ type }) => type)]);
        const others = conditions.filter(({ type }) => !ofOld.has(type));
        world.put({ ...binding, status: { ...status, conditions: [...others, ...told] } } as KubeObject);
      }
    },
  };
}
