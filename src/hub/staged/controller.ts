// Staged update runs: what a run watches and observes. evaluate.ts has its decisions, planners/staged.ts how it
// progresses, decide.ts what is written. Nothing is polled: everything that a run waits for requeues it.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { Resource } from '../../api/kind.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import { placementConditionType } from '../../api/placement.ts';
import { specProblemIn } from '../../api/spec-problem.ts';
import { type StagedUpdateRun, type StagedUpdateRunStatus, tasksOf } from '../../api/staged-update-run.ts';
import { InvariantError } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import {
  type Controller,
  type FullRef,
  isNeed,
  type Need,
  type Projected,
  type Source,
  type View,
} from '../../runtime/controller.ts';
import { dueAt, newThrottle, sawDone, type Throttle } from '../../runtime/due.ts';
import type { PlacementFamily } from '../families.ts';
import { freezeRule, freezesIn } from '../freezes/sources.ts';
import { isReachable } from '../members/reachable.ts';
import { observeOrders } from '../orders/observe.ts';
import type { Orders } from '../orders/order.ts';
import { isSameSpec } from '../orders/same-spec.ts';
import { overrideRules } from '../overrides/watching.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubResourceSnapshot,
  isLatest,
  placementKeyOf,
} from '../placement-sources.ts';
import { isNoNews } from '../planners/changes.ts';
import { memberFactsOf } from '../planners/rows.ts';
import { observePlaces } from '../revisions/places.ts';
import { createPropagation, type PropagationSettings } from '../revisions/propagation.ts';
import type { Rendered } from '../revisions/rendered.ts';
import { createSelectionCache, isMissing, resolveSelection, type Selected } from '../revisions/resolve-selection.ts';
import type { Places } from '../revisions/split.ts';
import type { WatchPlan } from '../revisions/watch-plan.ts';
import { memberClusters } from '../sources.ts';
import {
  type HubApprovalRequest,
  type HubRun,
  isInitialized,
  isOver,
  placementOfRun,
  runOfRequest,
} from '../staged-sources.ts';
import { decide } from './decide.ts';
import { type Evaluation, evaluate, restsOf } from './evaluate.ts';
import { noRunMetrics, type RunMetrics } from './metrics.ts';
import { DEFAULT_STUCK_AFTER_MS, type Observed, type Premise } from './observed.ts';
import { PROGRESS_WRITES, TURN_WRITES } from './status-rule.ts';

export interface RunOptions {
  /** The catalogue of the hub. */
  readonly catalogue: LiveCatalogue;
  /** Shared with the placement controllers, so that they share watches. */
  readonly plan: WatchPlan;
  readonly propagation?: PropagationSettings;
  /** The content of repositories. */
  readonly rendered?: Rendered;
  readonly metrics?: RunMetrics;
  /** After this time a cluster in progress counts as stuck. */
  readonly stuckAfterMs?: number;
  /** Maximum bytes of objects in one snapshot; SNAPSHOT_LIMIT by default. */
  readonly snapshotLimit?: number;
  /** The server records the approver itself; on other servers any client could have written that, so it is ignored. */
  readonly isSigned?: boolean;
}

const unsigned = ({ approval: _approval, ...request }: HubApprovalRequest): HubApprovalRequest => request;

type Seen = Observed & { readonly evaluation?: Evaluation };
/** The results of live reads, by `of/name`; null = the object does not exist. */
type Sure = Map<string, KubeObject | null>;

const cutsHistory = (evaluation: Evaluation): boolean =>
  evaluation.state === 'captures' && evaluation.steps.some((step) => step.some((action) => action.do === 'delete'));

const textOf = ({ of, name }: Premise): string => `${of}/${name}`;
const MAX_ROUNDS = 8;

interface Memory {
  /** It was not over at the last reconcile. */
  isActive: boolean;
  /** It reads the objects that its placement selects. */
  looks: boolean;
  /**
   * Bindings that this process has given the revision, even before the status records it. The uid tells it from an
   * earlier run of the same name.
   */
  brought: { readonly uid: string | undefined; readonly bindings: ReadonlySet<string> } | undefined;
  statusWrites: Throttle;
}

export function runController(family: PlacementFamily, options: RunOptions): Controller<Seen, Memory> {
  const { catalogue, plan, metrics = noRunMetrics, stuckAfterMs = DEFAULT_STUCK_AFTER_MS, isSigned = true } = options;
  const looking = {
    catalogue,
    propagation: createPropagation(options.propagation),
    plan,
    contents: createSelectionCache(),
    rendered: options.rendered,
    isLive: true,
  } as const;
  const prefix = `${family.run.kind} `;
  const newMemory = (): Memory => ({
    isActive: false,
    looks: false,
    brought: undefined,
    statusWrites: newThrottle(),
  });

  function stopLooking(key: string, memory: Memory): void {
    if (memory.looks) plan.forget(`${prefix}${key}`);
    memory.looks = false;
  }

  function seeAt(view: View, key: string, run: HubRun, given: Given): Observed {
    const { memory, status, sure, selected, places, orders, specProblem } = given;
    const { namespace } = run.metadata;
    const placementKey = placementOfRun(run);
    const one = <T extends Projected>(
      of: Premise['of'],
      source: Source<T>,
      name: string,
      within = namespace,
    ): T | undefined => {
      const known = sure.get(textOf({ of, name }));
      if (known === undefined) return view.get(source, name, within);
      return known === null ? undefined : source.project?.(known);
    };
    const many = <T extends Projected>(of: Premise['of'], source: Source<T>, items: readonly T[]): readonly T[] => {
      const asked = new Map([...sure].filter(([text]) => text.startsWith(`${of}/`)));
      if (asked.size === 0) return items;
      const project = (object: KubeObject | null | undefined) => (object ? (source.project?.(object) ?? []) : []);
      // Live reads replace items in place: otherwise the order would change with each read, and the first blocking run
      // would be a different one each time.
      const known = items.flatMap((item) => {
        const text = textOf({ of, name: item.metadata.name ?? '' });
        const object = asked.get(text);
        return asked.delete(text) ? project(object) : item;
      });
      return [...known, ...[...asked.values()].flatMap(project)];
    };
    const ofPlacement = <T extends Projected>(source: Source<T>) => view.by(source, 'placement', placementKey);
    const placement = one('placement', family.placements, run.spec.placementName);
    if (!isOver(run)) sawDone(memory.statusWrites, PROGRESS_WRITES, status, view.now);
    return {
      family,
      run,
      status,
      placement,
      strategy: one('strategy', family.strategies, run.spec.stagedRolloutStrategyName),
      policySnapshots: many('policySnapshot', family.policySnapshots, ofPlacement(family.policySnapshots)).filter(
        isLatest,
      ),
      resourceSnapshots: many('resourceSnapshot', family.resourceSnapshots, ofPlacement(family.resourceSnapshots)),
      bindings: many('binding', family.bindings, ofPlacement(family.bindings)),
      others: many('run', family.runs, ofPlacement(family.runs)).filter(
        ({ metadata }) => metadata.uid !== run.metadata.uid,
      ),
      member(cluster) {
        const member = one('member', memberClusters, cluster, undefined);
        return member && memberFactsOf(member);
      },
      ordersOf: (snapshot) => orders.get(snapshot),
      freezes: freezesIn(view),
      requests: view.by(family.approvalRequests, 'run', key),
      request(name) {
        const request = one('approvalRequest', family.approvalRequests, name);
        return request === undefined || isSigned ? request : unsigned(request);
      },
      ...(selected === undefined ? {} : { selected }),
      ...(places === undefined ? {} : { places }),
      ...(options.snapshotLimit === undefined ? {} : { snapshotLimit: options.snapshotLimit }),
      specProblem,
      wasGiven: (binding) => broughtBy(memory, run)?.has(binding) ?? false,
      statusDue: isOver(run) ? 0 : dueAt(memory.statusWrites, PROGRESS_WRITES, view.now),
      turnDue: isOver(run) ? 0 : dueAt(memory.statusWrites, TURN_WRITES, view.now),
      stuckAfterMs,
      ...(view.failure === undefined ? {} : { failure: view.failure }),
      now: view.now,
    };
  }

  function placesAt(view: View, run: HubRun, selected: Selected | undefined): Places | Need | undefined {
    if (selected?.state !== 'selected') return undefined;
    const snapshots = view.by(family.resourceSnapshots, 'placement', placementOfRun(run));
    return observePlaces(view, { family, snapshots, content: selected.content, limit: options.snapshotLimit });
  }

  /**
   * Evaluates the run, and reads every object live on which a final result depends, because the caches may be stale.
   */
  function consider(
    view: View,
    key: string,
    { run, status, memory }: { readonly run: HubRun } & Pick<Given, 'status' | 'memory'>,
  ): Seen | Need {
    const sure: Sure = new Map();
    const orders = new Map<string, Orders>();
    let selected: Selected | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const placement = view.get(family.placements, run.spec.placementName, run.metadata.namespace);
      const specProblem = placement === undefined || isOver(run) ? undefined : specProblemIn(placement.spec);
      const places = placesAt(view, run, selected);
      if (isNeed(places)) return places;
      const observed = seeAt(view, key, run, { memory, status, sure, selected, places, orders, specProblem });
      const evaluation = evaluate(observed);
      if (evaluation.state === 'looks' && observed.placement !== undefined) {
        if (evaluation.orders !== undefined) {
          const found = observeOrders(view, {
            family,
            placement: observed.placement,
            snapshot: evaluation.orders,
            for: 'records',
          });
          if (isNeed(found)) return found;
          orders.set(evaluation.orders, found);
          continue;
        }
        memory.looks = true;
        const found = resolveSelection(view, `${prefix}${key}`, observed.placement, looking);
        if (isMissing(found)) return found;
        selected = found;
        continue;
      }
      if (cutsHistory(evaluation)) {
        // A stale cache must not delete a revision that another run is about to use.
        const part = run.metadata.namespace === undefined ? {} : { namespace: run.metadata.namespace };
        if (view.isRefreshed?.(family.runs, part) === false) return { need: [], ask: [{ source: family.runs, part }] };
      }
      const unsure = restsOf(evaluation).filter((rest) => !sure.has(textOf(rest)));
      if (unsure.length === 0) {
        if (selected === undefined) stopLooking(key, memory);
        if (evaluation.state === 'planned') remember(memory, run, evaluation.plan.release);
        return { ...observed, evaluation };
      }
      const refs = unsure.map((rest) => ({ rest, ref: liveRef(rest, run.metadata.namespace) }));
      const need = refs.map(({ ref }) => ref).filter((ref) => view.getFull(ref) === undefined);
      if (need.length > 0) return { need };
      for (const { rest, ref } of refs) sure.set(textOf(rest), view.getFull(ref) ?? null);
    }
    throw new InvariantError(`the state of run "${key}" keeps changing`);
  }

  const liveRef = ({ of, name }: Premise, namespace: string | undefined): FullRef => ({
    ...wholeRef(of === 'member' ? memberClusters.resource : family[of], name, namespace),
    live: true,
  });

  /** Requests that are not cached yet must be found too, or they would outlive their run. */
  function observeEnd(
    view: View,
    key: string,
    { run, status, memory }: { readonly run: HubRun } & Pick<Given, 'status' | 'memory'>,
  ): Seen | Need {
    const observed = seeAt(view, key, run, {
      memory,
      status,
      sure: new Map(),
      selected: undefined,
      places: undefined,
      orders: new Map(),
      specProblem: undefined,
    });
    const { namespace } = run.metadata;
    const { approvalRequests: source } = family;
    const known = new Set(observed.requests.map(({ metadata }) => metadata.name));
    const refs = (status?.stagesStatus ?? [])
      .flatMap(tasksOf)
      .flatMap(({ approvalRequestName: name }) => (name === undefined || known.has(name) ? [] : [name]))
      .map((name) => liveRef({ of: 'approvalRequest', name }, namespace));
    const need = refs.filter((ref) => view.getFull(ref) === undefined);
    if (need.length > 0) return { need };
    const unseen = refs
      .flatMap((ref) => view.getFull(ref) ?? [])
      .flatMap((object) => source.project?.(object) ?? [])
      .filter((request) => request.metadata.labels?.[labels.targetUpdateRun] === run.metadata.name);
    return { ...observed, requests: [...observed.requests, ...unseen] };
  }

  return {
    name: `staged/${family.run.kind}`,
    eventSource: family.runEventSource,
    watches: watchesOf(family),

    memory: newMemory,
    forget: stopLooking,

    begin(wake, signal, memories) {
      plan.onWiden((reader) => {
        const key = reader.slice(prefix.length);
        if (reader.startsWith(prefix) && memories.get(key)?.looks === true) wake(key);
      });
      const stop = catalogue.subscribe(() => {
        for (const [key, { looks }] of memories) if (looks) wake(key);
      });
      signal.addEventListener('abort', stop, { once: true });
    },

    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const run = view.get(family.runs, name, namespace);
      if (run === undefined) {
        metrics.forget(partsOf(key));
        return undefined;
      }
      if (isSettled(run, memory.isActive ? undefined : view.by(family.approvalRequests, 'run', key))) {
        metrics.looked(run, undefined, () => Number.NaN, view.now);
        return undefined;
      }
      const ref = wholeRef(family.run, name, namespace);
      const whole = view.getFull(ref);
      if (whole === undefined) return { need: [ref] };
      const status = (whole as StagedUpdateRun | null)?.status;
      if (run.metadata.deletionTimestamp !== undefined) {
        stopLooking(key, memory);
        metrics.forget(partsOf(key));
        Object.assign(memory, newMemory());
        return observeEnd(view, key, { run, status, memory });
      }
      const askedAt = (request: string) =>
        Date.parse(view.get(family.approvalRequests, request, namespace)?.metadata.creationTimestamp ?? '');
      metrics.looked(run, status, askedAt, view.now);
      if (isOver(run) && memory.isActive) {
        memory.statusWrites = newThrottle();
        memory.brought = undefined;
      }
      memory.isActive = !isOver(run);
      return consider(view, key, { run, status, memory });
    },

    decide,
  };
}

function wholeRef(resource: Resource, name: string, namespace: string | undefined): FullRef {
  const within = resource.namespaced && namespace !== undefined ? { namespace } : {};
  return { on: 'hub', resource, group: resource.group, kind: resource.kind, ...within, name };
}

function broughtBy({ brought }: Memory, { metadata: { uid } }: HubRun): ReadonlySet<string> | undefined {
  return brought?.uid === uid ? brought?.bindings : undefined;
}

/** Remembers the bindings that were released to the work generator. */
function remember(memory: Memory, run: HubRun, released: readonly string[]): void {
  if (released.length === 0) return;
  memory.brought = { uid: run.metadata.uid, bindings: new Set([...(broughtBy(memory, run) ?? []), ...released]) };
}

interface Given {
  readonly memory: Memory;
  readonly status: StagedUpdateRunStatus | undefined;
  readonly sure: Sure;
  readonly selected: Selected | undefined;
  readonly places: Places | undefined;
  /** The desired state of the clusters, by snapshot name. */
  readonly orders: ReadonlyMap<string, Orders>;
  readonly specProblem: Observed['specProblem'];
}

/**
 * The run is over, and its conditions and requests are up to date. There are many such runs, and their status need not
 * be read.
 */
function isSettled(run: HubRun, requests: readonly HubApprovalRequest[] | undefined): boolean {
  const { generation, deletionTimestamp } = run.metadata;
  if (requests === undefined || !isOver(run) || deletionTimestamp !== undefined) return false;
  const isOfNow = run.conditions.every(({ observedGeneration }) => observedGeneration === generation);
  return isOfNow && requests.every(({ conditions }) => conditionOf(conditions, 'ApprovalAccepted')?.status === 'True');
}

// ---- what requeues a run

const ownKey = ({ metadata }: Projected): string => keyOf(metadata.namespace, metadata.name ?? '');

// biome-ignore lint/suspicious/noExplicitAny: rules over different projections stand in one list; each is typed where it is written.
function watchesOf(family: PlacementFamily): Controller<any, any>['watches'] {
  const runsOn = (view: View, placement: string, fits: (run: HubRun) => boolean = () => true): readonly string[] =>
    view
      .by(family.runs, 'placement', placement)
      .filter((run) => !isOver(run) && fits(run))
      .map(ownKey);
  const isNew = (run: HubRun): boolean => !isInitialized(run);
  return [
    {
      source: family.runs,
      // Another run of the placement may wait for this one.
      toKeys: (run: HubRun, view: View, old?: HubRun) =>
        old !== undefined && turnOf(old) === turnOf(run)
          ? [ownKey(run)]
          : [ownKey(run), ...runsOn(view, placementOfRun(run), (other) => other.metadata.uid !== run.metadata.uid)],
    },
    {
      source: family.bindings,
      toKeys(item: HubBinding, view: View, old?: HubBinding) {
        const runs = runsOn(view, placementKeyOf(item));
        return runs.length === 0 || (old !== undefined && isNoNews(item, old)) ? [] : runs;
      },
    },
    { source: family.policySnapshots, toKeys: (item, view) => runsOn(view, placementKeyOf(item)) },
    {
      source: family.resourceSnapshots,
      toKeys(item: HubResourceSnapshot, view: View) {
        const { name = '', namespace } = item.metadata;
        // A new snapshot concerns runs that have not started; a deleted one concerns all.
        const isThere = view.get(family.resourceSnapshots, name, namespace) !== undefined;
        return runsOn(view, placementKeyOf(item), isThere ? isNew : undefined);
      },
    },
    {
      source: family.placements,
      toKeys(placement: HubPlacement, view: View, old?: HubPlacement) {
        if (old === undefined || !isSameSpec(placement, old)) return runsOn(view, ownKey(placement));
        const scheduled = placementConditionType(family.placement, 'Scheduled');
        const isSaidAnew = !deepEqual(
          conditionOf(placement.conditions, scheduled),
          conditionOf(old.conditions, scheduled),
        );
        return isSaidAnew ? runsOn(view, ownKey(placement), isNew) : [];
      },
    },
    {
      source: memberClusters,
      toKeys(member: MemberCluster, view: View, old?: MemberCluster) {
        if (old !== undefined && newsOf(old) === newsOf(member)) return [];
        const placements = new Set(view.by(family.bindings, 'cluster', member.metadata.name ?? '').map(placementKeyOf));
        return [...placements].flatMap((placement) => runsOn(view, placement));
      },
    },
    { source: family.approvalRequests, toKeys: (request) => [runOfRequest(request)] },
    {
      source: family.strategies,
      toKeys: (strategy, view) => view.by(family.runs, 'strategy', ownKey(strategy)).filter(isNew).map(ownKey),
    },
    freezeRule(family, (placements, view) => placements.flatMap((placement) => runsOn(view, placement))),
    // Later changes are for the next run.
    ...overrideRules(family, (placements, view) => placements.flatMap((placement) => runsOn(view, placement, isNew))),
  ];
}

/** The state that matters to other runs. */
const turnOf = (run: HubRun): string =>
  [isOver(run), run.hasBegun, run.spec.state === 'Stop', run.metadata.deletionTimestamp !== undefined].join(' ');

/** Heartbeats are ignored. */
const newsOf = (member: MemberCluster): string => {
  const { uid, deletionTimestamp, labels: own = {} } = member.metadata;
  const marks = Object.entries(own).map(([key, value]) => `${key}=${value}`);
  return [uid, deletionTimestamp, isReachable(member), ...marks.sort()].join(' ');
};
