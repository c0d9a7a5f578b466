// The history of staged update runs as observed from outside, change by change: which cluster was available with which
// revision and when, which request was approved and when, and the outcome of each run. Of a run's own reports only its
// plan is trusted: its clusters and their order. The plan is checked against the labels when it is made; everything
// else is observed on bindings and requests.
import type { ApprovalRequest } from '../../../src/api/approval-request.ts';
import type { Binding } from '../../../src/api/binding.ts';
import type { Condition } from '../../../src/api/conditions.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { annotations, masterSnapshotName, memberNamespace } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject, Labels } from '../../../src/api/object.ts';
import type { ResourceSnapshot } from '../../../src/api/resource-snapshot.ts';
import type { StagedUpdateRun, StageStatus, StageTaskStatus } from '../../../src/api/staged-update-run.ts';
import type { Stage } from '../../../src/api/staged-update-strategy.ts';
import { type Work, work } from '../../../src/api/work.ts';
import { parseDuration } from '../../../src/base/duration.ts';
import { deepEqual } from '../../../src/base/json.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import type { ReadableChange } from '../../../src/sim/server.ts';
import { textIn } from './light-member.ts';

/** The periods in which something was true. */
export class Times {
  readonly #spans: { readonly from: number; to: number }[] = [];

  is(isSo: boolean, now: number): void {
    const last = this.#spans.at(-1);
    const isOpen = last?.to === Number.POSITIVE_INFINITY;
    if (isSo && !isOpen) this.#spans.push({ from: now, to: Number.POSITIVE_INFINITY });
    else if (!isSo && isOpen) last.to = now;
  }

  /** Whether it was true for at least this long, ending after `since`. */
  lasted(ms: number, since: number, now: number): boolean {
    return this.#spans.some(({ from, to }) => to >= since && Math.min(to, now) - from >= ms);
  }

  /** Until when it was true; -Infinity = never, Infinity = it still is. */
  get until(): number {
    return this.#spans.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  }

  /** Since when it is true; undefined = it is not. */
  get since(): number | undefined {
    const last = this.#spans.at(-1);
    return last?.to === Number.POSITIVE_INFINITY ? last.from : undefined;
  }

  /** The first moment from then on at which it was true. */
  firstSince(since: number): number | undefined {
    const span = this.#spans.find(({ to }) => to >= since);
    return span && Math.max(span.from, since);
  }
}

export interface Told {
  readonly name: string;
  readonly uid: string;
  readonly madeAt: number;
  /** Its last state. */
  readonly run: StagedUpdateRun;
  readonly isGone: boolean;
}

export interface Labelled {
  /** undefined = it is not in the fleet. */
  readonly labels: Labels | undefined;
  readonly since: number;
}

export class Chronicle {
  readonly #family: PlacementFamily;
  readonly #behindMs: number;
  readonly #runs = new Map<string, Told>();
  readonly #bindings = new Map<string, Binding>();
  /** By `cluster snapshot`: it had the snapshot, and was available. */
  readonly #worked = new Map<string, Times>();
  /** By `cluster snapshot`: it was bound to the snapshot, and its status said so. */
  readonly #given = new Map<string, Times>();
  /** `cluster snapshot`: its member may receive it. */
  readonly #told = new Set<string>();
  /** By request and gate: it was approved for its generation. */
  readonly #approved = new Map<string, Times>();
  /** By request and gate: it was accepted. */
  readonly #accepted = new Map<string, Times>();
  /** By name of a request: its subjects, whoever created it. */
  readonly #abouts = new Map<string, Map<string, Times>>();
  /** `namespace snapshot`: the member has reported a Work with it as available. */
  readonly #answered = new Set<string>();
  /** By cluster. */
  readonly #labelled = new Map<string, Labelled>();
  /** By cluster: it was unreachable. */
  readonly #silent = new Map<string, Times>();
  /** By cluster: no binding picked it. */
  readonly #unpicked = new Map<string, Times>();

  readonly #versions: { readonly at: number; readonly version: number }[] = [];
  readonly #snapshots = new Map<string, number>();

  /** `behindMs`: how stale the view of a hub may be. */
  constructor(family: PlacementFamily, behindMs: number) {
    this.#family = family;
    this.#behindMs = behindMs;
  }

  follow({ key, stored, deleted }: ReadableChange, now: number): void {
    const object = stored.object();
    const { kind } = object;
    if (kind === this.#family.run.kind) this.#followRun(object as StagedUpdateRun, deleted, now);
    else if (kind === this.#family.binding.kind) this.#followBinding(key, object as Binding, deleted, now);
    else if (kind === this.#family.approvalRequest.kind) this.#followRequest(object as ApprovalRequest, deleted, now);
    else if (kind === this.#family.resourceSnapshot.kind && !deleted) this.#followSnapshot(object as ResourceSnapshot);
    else if (kind === work.kind && !deleted) this.#followWork(object as Work);
    else if (kind === 'ConfigMap') this.#versions.push({ at: now, version: versionOf(textIn(object)) });
    else if (kind === memberCluster.kind) {
      const { metadata, status } = object as MemberCluster;
      const isSilent = conditionOf(status?.conditions, 'Healthy')?.reason === 'MemberUnreachable';
      timesOf(this.#silent, metadata.name ?? '').is(isSilent && !deleted, now);
      this.#followLabels(metadata.name ?? '', deleted ? undefined : (metadata.labels ?? {}), now);
    }
  }

  #followRun(run: StagedUpdateRun, isGone: boolean, now: number): void {
    const { name = '', uid = '' } = run.metadata;
    const madeAt = this.#runs.get(uid)?.madeAt ?? now;
    this.#runs.set(uid, { name, uid, madeAt, run, isGone });
  }

  #followBinding(key: string, binding: Binding, isGone: boolean, now: number): void {
    const { targetCluster, resourceSnapshotName } = binding.spec;
    const before = this.#bindings.get(key);
    if (isGone) this.#bindings.delete(key);
    else this.#bindings.set(key, binding);
    if (before !== undefined) this.#tellWork(before.spec.targetCluster, before.spec.resourceSnapshotName, now);
    this.#tellWork(targetCluster, resourceSnapshotName, now);
    timesOf(this.#unpicked, targetCluster).is(!this.#of(targetCluster).some(isPicked), now);
  }

  #of(cluster: string): readonly Binding[] {
    return [...this.#bindings.values()].filter(({ spec }) => spec.targetCluster === cluster);
  }

  #tellWork(cluster: string, snapshot: string, now: number): void {
    const works = this.#of(cluster).some(
      (each) => isPicked(each) && each.spec.resourceSnapshotName === snapshot && isAvailable(each),
    );
    timesOf(this.#worked, `${cluster} ${snapshot}`).is(works, now);
    const isGiven = this.#of(cluster).some(
      (each) =>
        isPicked(each) &&
        each.spec.state === 'Bound' &&
        each.spec.resourceSnapshotName === snapshot &&
        isReleased(each),
    );
    timesOf(this.#given, `${cluster} ${snapshot}`).is(isGiven, now);
    const isGivenUp = this.#of(cluster).some(
      ({ spec }) => spec.state === 'Unscheduled' && spec.resourceSnapshotName === snapshot,
    );
    if (isGiven || isGivenUp) this.#told.add(`${cluster} ${snapshot}`);
  }

  #followSnapshot({ metadata, spec }: ResourceSnapshot): void {
    const { name = '' } = metadata;
    const text = textIn((spec.selectedResources.find(({ kind }) => kind === 'ConfigMap') ?? {}) as KubeObject);
    this.#snapshots.set(name, versionOf(text));
  }

  #followLabels(cluster: string, labels: Labels | undefined, now: number): void {
    const known = this.#labelled.get(cluster);
    if (known !== undefined && deepEqual(known.labels, labels)) return;
    this.#labelled.set(cluster, { labels, since: now });
  }

  #followWork({ metadata, status }: Work): void {
    const said = conditionOf(status?.conditions, 'Available');
    if (said?.status !== 'True' || said.observedGeneration !== metadata.generation) return;
    const snapshot = metadata.annotations?.[annotations.parentResourceSnapshotName];
    this.#answered.add(`${metadata.namespace} ${snapshot}`);
  }

  #followRequest(request: ApprovalRequest, isGone: boolean, now: number): void {
    const { name = '' } = request.metadata;
    const { parentStageRollout, targetStage } = request.spec;
    const abouts = this.#abouts.get(name) ?? new Map<string, Times>();
    this.#abouts.set(name, abouts);
    timesOf(abouts, aboutText(parentStageRollout, targetStage)).is(!isGone, now);
    // Names are reused, uids are not: approvals of an earlier run with that name do not count for this one.
    const asker = this.askerOf(request);
    if (asker === undefined) return;
    const key = gateKey(name, asker.uid, targetStage);
    timesOf(this.#approved, key).is(!isGone && isApproved(request), now);
    timesOf(this.#accepted, key).is(!isGone && isAccepted(request), now);
  }

  // ---- queries

  get bindings(): readonly Binding[] {
    return [...this.#bindings.values()];
  }

  /** Including deleted ones. */
  get runs(): readonly Told[] {
    return [...this.#runs.values()];
  }

  /** The run that requests this approval; undefined = a user created the request. */
  askerOf({ metadata, spec }: ApprovalRequest): Told | undefined {
    return (metadata.ownerReferences ?? [])
      .flatMap(({ uid }) => this.#runs.get(uid) ?? [])
      .find(({ name }) => name === spec.parentStageRollout);
  }

  /** When the cluster first had the run's revision and was available, in the run's life. */
  doneAt({ run, madeAt }: Told, cluster: string): number | undefined {
    return this.#worked.get(`${cluster} ${snapshotOf(run)}`)?.firstSince(madeAt - this.#behindMs);
  }

  /** Whether the gate's request was approved in the run's life, for its generation. */
  wasApproved({ uid, madeAt }: Told, request: string, stage: string): boolean {
    return this.#approved.get(gateKey(request, uid, stage))?.firstSince(madeAt) !== undefined;
  }

  wasAccepted({ uid, madeAt }: Told, request: string, stage: string): boolean {
    return this.#accepted.get(gateKey(request, uid, stage))?.firstSince(madeAt) !== undefined;
  }

  /** Until when a request of this name existed for another subject. */
  foreignUntil({ name }: Told, request: string, stage: string): number {
    const others = [...(this.#abouts.get(request) ?? [])].filter(([about]) => about !== aboutText(name, stage));
    return Math.max(...others.map(([, times]) => times.until));
  }

  /** Whether its member has reported this revision as available. */
  hasAnswered(cluster: string, snapshot: string): boolean {
    return this.#answered.has(`${memberNamespace(cluster)} ${snapshot}`);
  }

  /** Its current labels, and since when; without labels = it is not in the fleet. */
  labelled(cluster: string): Labelled | undefined {
    return this.#labelled.get(cluster);
  }

  /** Whether its member may receive the snapshot: it was bound to it at some moment, or given up with it. */
  mayBeTold(cluster: string, snapshot: string): boolean {
    return this.#told.has(`${cluster} ${snapshot}`);
  }

  /** Whether it was unreachable for that long, and recently. */
  wasSilent(cluster: string, forMs: number, since: number, now: number): boolean {
    return this.#silent.get(cluster)?.lasted(forMs, since, now) ?? false;
  }

  /** The version of the content in the snapshot, or at a moment; -1 = unknown. */
  versionIn(snapshot: string): number {
    return this.#snapshots.get(snapshot) ?? -1;
  }

  versionAt(moment: number): number {
    return this.#versions.findLast(({ at }) => at <= moment)?.version ?? -1;
  }

  /** Whether it has been bound to the snapshot for at least this long. */
  hasKept(cluster: string, snapshot: string, ms: number, now: number): boolean {
    const since = this.#given.get(`${cluster} ${snapshot}`)?.since;
    return since !== undefined && now - since >= ms;
  }

  wasUnpickedSince(cluster: string, since: number): boolean {
    return this.#unpicked.get(cluster)?.firstSince(since) !== undefined;
  }

  /**
   * Clusters in progress: they have the run's revision, are still picked, and have not been available with it in the
   * run's life.
   */
  inFlight(told: Told, { clusters }: StageStatus): readonly string[] {
    const snapshot = snapshotOf(told.run);
    return clusters
      .map(({ clusterName }) => clusterName)
      .filter(
        (cluster) =>
          this.doneAt(told, cluster) === undefined &&
          this.#of(cluster).some((each) => isPicked(each) && each.spec.resourceSnapshotName === snapshot),
      );
  }
}

const timesOf = (all: Map<string, Times>, key: string): Times => {
  let times = all.get(key);
  if (times === undefined) {
    times = new Times();
    all.set(key, times);
  }
  return times;
};

const gateKey = (request: string, uid: string, stage: string): string => [request, uid, stage].join(' ');
const aboutText = (run: string, stage: string): string => [run, stage].join(' ');

// ---- single objects

/** Each content is newer than all before it. */
const versionOf = (text: string): number => Number(/\d+$/.exec(text)?.[0] ?? -1);

export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const isPicked = (binding: Binding): boolean => !isDeleting(binding) && binding.spec.state !== 'Unscheduled';

export const isReleased = ({ metadata, status }: Binding): boolean => {
  const said = conditionOf(status?.conditions, 'RolloutStarted');
  return said?.status === 'True' && said.observedGeneration === metadata.generation;
};

export const isAvailable = ({ metadata, status }: Binding): boolean => {
  const said = conditionOf(status?.conditions, 'Available');
  return said?.status === 'True' && said.observedGeneration === metadata.generation;
};

/** Whether the current generation of the request is approved. */
export const isApproved = ({ metadata, status }: ApprovalRequest): boolean => {
  const said = conditionOf(status?.conditions, 'Approved');
  return said?.status === 'True' && said.observedGeneration === metadata.generation;
};

export const isAccepted = ({ status }: ApprovalRequest): boolean =>
  conditionOf(status?.conditions, 'ApprovalAccepted')?.status === 'True';

/** The snapshot of a run; empty before it is known. */
export const snapshotOf = ({ spec, status }: StagedUpdateRun): string => {
  const index = status?.resourceSnapshotIndexUsed;
  return index === undefined ? '' : masterSnapshotName(spec.placementName, Number(index));
};

export const stagesOf = ({ status }: StagedUpdateRun): readonly StageStatus[] => status?.stagesStatus ?? [];

export const planOf = ({ status }: StagedUpdateRun, at: number): Stage | undefined =>
  status?.stagedUpdateStrategySnapshot?.stages[at];

export const waitMsOf = (stage: Stage | undefined): number =>
  parseDuration(stage?.afterStageTasks?.find(({ type }) => type === 'TimedWait')?.waitTime ?? '0s') ?? 0;

export const requestsOf = (tasks: readonly StageTaskStatus[] | undefined): readonly string[] =>
  (tasks ?? []).flatMap(({ approvalRequestName: name }) => (name === undefined ? [] : [name]));

interface Saying {
  readonly conditions?: readonly Condition[];
}

export const isSaid = (of: Saying | undefined, type: string, reason?: string): boolean => {
  const said = conditionOf(of?.conditions, type);
  return said?.status === 'True' && (reason === undefined || said.reason === reason);
};

export const isSkipped = (of: Saying): boolean => isSaid(of, 'Succeeded', 'ClusterUpdatingSkipped');

/** Whether the run is complete or has failed. */
export const isOver = ({ status }: Pick<StagedUpdateRun, 'status'>): boolean =>
  ['True', 'False'].includes(conditionOf(status?.conditions, 'Succeeded')?.status ?? '') ||
  conditionOf(status?.conditions, 'Initialized')?.status === 'False';
