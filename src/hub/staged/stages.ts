// Which cluster belongs to which stage, and the order within a stage. Guarantee: every picked cluster is in exactly one
// stage, or the run does not start and reports the cluster.
import { approvalRequestName } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import type { StageStatus, StageTaskStatus } from '../../api/staged-update-run.ts';
import { type Stage, type StageTask, tasksIn } from '../../api/staged-update-strategy.ts';
import { byText } from '../../base/compare.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { compileLabelSelector, nothing, type Selector } from '../../base/selector.ts';
import { waitMs } from '../planners/staged-gates.ts';

export interface StagesInput {
  readonly run: string;
  readonly stages: readonly Stage[];
  /** The picked clusters. */
  readonly clusters: readonly string[];
  /** undefined = there is no such MemberCluster. */
  labelsOf(cluster: string): Labels | undefined;
}

export type Staged =
  | { readonly ok: true; readonly stages: readonly StageStatus[] }
  /** `clusters`: the ones whose labels cause the failure. */
  | { readonly ok: false; readonly message: string; readonly clusters: readonly string[] };

const MAX_NAMED = 10;

/**
 * Why the stages are invalid; undefined = they are valid. The API server rejects most of it, but the hub may run on
 * another server.
 */
export function troubleIn(stages: readonly Stage[]): string | undefined {
  const names = new Set<string>();
  for (const stage of stages) {
    // Differs from KubeFleet: there stages of the same name share an approval request, so one approval opens both
    // gates.
    if (names.has(stage.name)) return `stage name "${stage.name}" is used twice: names must be unique`;
    names.add(stage.name);
    const trouble = troubleInTasks(stage) ?? troubleInSelector(stage);
    if (trouble !== undefined) return `stage "${stage.name}": ${trouble}`;
  }
  return undefined;
}

function troubleInTasks(stage: Stage): string | undefined {
  const { beforeStageTasks: before = [], afterStageTasks: after = [] } = stage;
  if (before.length > 1) return 'beforeStageTasks has more than one task';
  if (after.length > 2) return 'afterStageTasks has more than two tasks';
  if (before.some(({ type }) => type !== 'Approval')) return 'beforeStageTasks takes only tasks of type Approval';
  if (new Set(after.map(({ type }) => type)).size < after.length) {
    return 'afterStageTasks has two tasks of the same type';
  }
  for (const task of tasksIn(stage)) {
    if (task.type === 'Approval' && task.waitTime !== undefined) return 'an Approval task takes no waitTime';
    if (task.type === 'TimedWait' && !(waitMs(task) > 0)) return 'a TimedWait task needs a waitTime above 0';
  }
  return undefined;
}

function troubleInSelector({ labelSelector }: Stage): string | undefined {
  try {
    compileLabelSelector(labelSelector);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return `labelSelector: ${messageOf(error)}`;
    throw error;
  }
}

/** An absent selector matches no cluster, an empty one matches all. */
const selectorOf = ({ labelSelector }: Stage): Selector =>
  labelSelector === undefined ? nothing : compileLabelSelector(labelSelector);

export function stagesOf({ run, stages, clusters, labelsOf }: StagesInput): Staged {
  const stageOf = new Map<string, string>();
  const found: StageStatus[] = [];
  for (const stage of stages) {
    const selector = selectorOf(stage);
    const own = clusters.filter((cluster) => {
      const labels = labelsOf(cluster);
      return labels !== undefined && selector.matches(labels);
    });
    for (const cluster of own) {
      const other = stageOf.get(cluster);
      if (other !== undefined) {
        const message = `cluster "${cluster}" belongs to two stages, "${other}" and "${stage.name}"`;
        return { ok: false, message: `${message}: change its labels or the selectors`, clusters: [cluster] };
      }
      stageOf.set(cluster, stage.name);
    }
    const ordered = inOrder(stage, own, labelsOf);
    if (!ordered.ok) return ordered;
    found.push(stageStatus(run, stage, ordered.clusters));
  }
  const left = clusters.filter((cluster) => !stageOf.has(cluster)).toSorted(byText);
  if (left.length === 0) return { ok: true, stages: found };
  const named = left.slice(0, MAX_NAMED).map((cluster) => `"${cluster}"`);
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : '';
  return {
    ok: false,
    message: `${left.length === 1 ? '1 picked cluster belongs' : `${left.length} picked clusters belong`} to no stage: ${named.join(', ')}${more}: change their labels or the selectors`,
    clusters: left,
  };
}

/**
 * Whether every cluster is where `stagesOf` would put it. A fast check before every step, because it nearly always is.
 */
export function isInPlace({ stages, clusters, labelsOf }: StagesInput, recorded: readonly StageStatus[]): boolean {
  if (stages.length !== recorded.length) return false;
  const selectors = stages.map(selectorOf);
  const left = new Set(clusters);
  for (const [at, { clusters: own }] of recorded.entries()) {
    const { sortingLabelKey: key = '' } = stages[at] as Stage;
    let before: { readonly name: string; readonly rank: bigint } | undefined;
    for (const { clusterName: name } of own) {
      const labels = labelsOf(name);
      if (!left.delete(name) || labels === undefined) return false;
      if (selectors.some((selector, place) => selector.matches(labels) !== (place === at))) return false;
      const rank = key === '' ? 0n : rankOf(labels, key);
      if (rank === undefined) return false;
      if (before !== undefined && (before.rank > rank || (before.rank === rank && byText(before.name, name) >= 0)))
        return false;
      before = { name, rank };
    }
  }
  return left.size === 0;
}

const rankOf = (labels: Labels, key: string): bigint | undefined =>
  Object.hasOwn(labels, key) ? integerIn(labels[key] as string) : undefined;

type Ordered =
  | { readonly ok: true; readonly clusters: readonly string[] }
  | { readonly ok: false; readonly message: string; readonly clusters: readonly string[] };

function inOrder(
  { name, sortingLabelKey: key }: Stage,
  own: readonly string[],
  labelsOf: StagesInput['labelsOf'],
): Ordered {
  if (key === undefined || key === '') return { ok: true, clusters: own.toSorted(byText) };
  const rank = new Map<string, bigint>();
  for (const cluster of own) {
    const labels = labelsOf(cluster) ?? {};
    const text = Object.hasOwn(labels, key) ? labels[key] : undefined;
    const value = rankOf(labels, key);
    if (value === undefined) {
      const what =
        text === undefined ? `has no label "${key}"` : `has "${text}" as label "${key}", which is no integer`;
      return {
        ok: false,
        message: `stage "${name}" is sorted by a label, and cluster "${cluster}" ${what}`,
        clusters: [cluster],
      };
    }
    rank.set(cluster, value);
  }
  const placeOf = (cluster: string) => rank.get(cluster) as bigint;
  return {
    ok: true,
    clusters: own.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : placeOf(a) > placeOf(b) ? 1 : byText(a, b))),
  };
}

/** A signed decimal number of 64 bits. */
function integerIn(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function stageStatus(run: string, stage: Stage, clusters: readonly string[]): StageStatus {
  const tasks = (when: 'before' | 'after', list: readonly StageTask[]): StageTaskStatus[] =>
    list.map(({ type }) =>
      type === 'Approval' ? { type, approvalRequestName: approvalRequestName(run, when, stage.name) } : { type },
    );
  const { beforeStageTasks: before = [], afterStageTasks: after = [] } = stage;
  return {
    stageName: stage.name,
    clusters: clusters.map((clusterName) => ({ clusterName })),
    ...(before.length === 0 ? {} : { beforeStageTaskStatus: tasks('before', before) }),
    ...(after.length === 0 ? {} : { afterStageTaskStatus: tasks('after', after) }),
  };
}
