// The status of a run as a tree of stages, clusters and gates, each with conditions. Guarantees: the time of a
// condition changes only with its status; every condition has the generation of the last pass, so that changing the
// state of a run makes no condition look stale.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import {
  type RunCondition,
  type RunReason,
  type StageClusterCondition,
  type StageClusterReason,
  type StageClusterStatus,
  type StageCondition,
  type StagedUpdateRunStatus,
  type StageReason,
  type StageStatus,
  type StageTaskCondition,
  type StageTaskReason,
  type StageTaskStatus,
  stagesIn,
  tasksOf,
} from '../../api/staged-update-run.ts';
import { kubeTime } from '../../base/clock.ts';
import { type Mutable, mutableCopy } from '../../base/json.ts';

/** A mutable copy of the status. */
export type RunTree = Mutable<StagedUpdateRunStatus>;
export type StageTree = Mutable<StageStatus>;
export type ClusterTree = Mutable<StageClusterStatus>;
export type TaskTree = Mutable<StageTaskStatus>;

interface Told {
  readonly conditions?: readonly Condition[];
}

type Status = Condition['status'];
type Words<Type, Reason> = readonly [type: Type, status: Status, reason: Reason, message: string];

/** Sets conditions in a tree, all with one time and one generation. */
export interface Teller {
  readonly stamp: string;
  run(of: RunTree, ...words: Words<RunCondition, RunReason>): void;
  stage(of: StageTree, ...words: Words<StageCondition, StageReason>): void;
  cluster(of: ClusterTree, ...words: Words<StageClusterCondition, StageClusterReason>): void;
  task(of: TaskTree, ...words: Words<StageTaskCondition, StageTaskReason>): void;
}

export function teller(generation: number | undefined, now: number): Teller {
  const say = (
    of: { conditions?: Mutable<Condition>[] },
    ...[type, status, reason, message]: Words<string, string>
  ): void => {
    const finding = {
      type,
      status,
      reason,
      message,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
    const next = nextCondition(conditionOf(of.conditions, type), finding, now) as Mutable<Condition>;
    const at = of.conditions?.findIndex((each) => each.type === type) ?? -1;
    if (of.conditions === undefined) of.conditions = [next];
    else if (at < 0) of.conditions.push(next);
    else of.conditions[at] = next;
  };
  return { stamp: kubeTime(now), run: say, stage: say, cluster: say, task: say };
}

export const failureCauseOf = (blame: 'user' | 'internal') => (blame === 'user' ? 'User' : 'Internal');

export const conditionIn = (of: Told | undefined, type: string): Condition | undefined =>
  conditionOf(of?.conditions, type);
export const isTrue = (of: Told | undefined, type: string): boolean => conditionIn(of, type)?.status === 'True';
export const isFalse = (of: Told | undefined, type: string): boolean => conditionIn(of, type)?.status === 'False';

/** The last transition time of a condition; NaN = it is not set. */
export const sinceOf = (of: Told | undefined, type: string): number =>
  Date.parse(conditionIn(of, type)?.lastTransitionTime ?? '');

/** A mutable copy with all conditions at the present generation. */
export function treeOf(status: StagedUpdateRunStatus, generation: number | undefined): RunTree {
  const tree = mutableCopy(status) as RunTree;
  if (generation === undefined) return tree;
  for (const of of partsOf(tree)) {
    for (const condition of of.conditions ?? []) condition.observedGeneration = generation;
  }
  return tree;
}

function partsOf(tree: RunTree): readonly { conditions?: Mutable<Condition>[] }[] {
  return [tree, ...stagesIn(tree).flatMap((stage) => [stage, ...stage.clusters, ...tasksOf(stage)])];
}

/** The clusters that a run skipped. */
export const skippedIn = (status: StagedUpdateRunStatus): readonly string[] =>
  stagesIn(status).flatMap(({ clusters }) =>
    clusters
      .filter((cluster) => conditionIn(cluster, 'Succeeded')?.reason === 'ClusterUpdatingSkipped')
      .map(({ clusterName }) => clusterName),
  );
