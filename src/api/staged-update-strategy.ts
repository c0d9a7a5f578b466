// ClusterStagedUpdateStrategy and StagedUpdateStrategy: the stages, concurrency and gates of a rollout.
import { definePair, type Infer, rule, s, type WithSpec } from './build.ts';
import { placementGroup, V1, V1_AND_ALPHA } from './groups.ts';
import { labelSelector } from './label-selector.ts';
import { admitStrategy } from './meaning.ts';
import { DURATION, PERCENT_FROM_1, QUALIFIED_NAME, QUALIFIED_NAME_LENGTH } from './patterns.ts';

const task = s.object(
  {
    type: s.oneOf(['TimedWait', 'Approval'], { doc: 'Wait for a time, or for a person.' }),
    waitTime: s.optional(
      s.string({ doc: 'How long TimedWait waits, such as 1h30m.', pattern: DURATION, maxLength: 64 }),
    ),
  },
  {
    doc: 'One gate.',
    rules: [
      rule("self.type != 'TimedWait' || has(self.waitTime)", 'a TimedWait task needs waitTime', '.waitTime'),
      rule("self.type != 'Approval' || !has(self.waitTime)", 'an Approval task takes no waitTime', '.waitTime'),
    ],
  },
);
export type StageTask = Infer<typeof task>;

const stage = s.object(
  {
    name: s.string({ doc: 'Name of the stage: small letters and digits.', pattern: '^[a-z0-9]+$', maxLength: 63 }),
    labelSelector: s.optional(labelSelector('The clusters of the stage.')),
    sortingLabelKey: s.optional(
      s.string({
        doc: 'Label with an integer that orders the clusters of the stage; without it they go by name.',
        pattern: QUALIFIED_NAME,
        maxLength: QUALIFIED_NAME_LENGTH,
      }),
    ),
    maxConcurrency: s.defaulted(
      s.intOrString({
        doc: 'How many clusters of the stage, or which share of them, move at once; a share is rounded down, at least 1.',
        minimum: 1,
        pattern: PERCENT_FROM_1,
      }),
      1,
    ),
    beforeStageTasks: s.optional(
      s.array(task, {
        doc: 'What must happen before the stage begins: at most one Approval.',
        maxItems: 1,
        rules: [rule("self.all(task, task.type == 'Approval')", 'before a stage only an Approval task is possible')],
      }),
    ),
    afterStageTasks: s.optional(
      s.array(task, {
        doc: 'What must happen before the next stage begins: at most one task of each type.',
        maxItems: 2,
        rules: [
          rule(
            'self.all(task, self.exists_one(other, other.type == task.type))',
            'a stage takes one task of each type',
          ),
        ],
      }),
    ),
  },
  { doc: 'One stage.' },
);
export type Stage = Infer<typeof stage>;

/** The gates of a stage, before-stage gates first. */
export const tasksIn = <T>({
  beforeStageTasks = [],
  afterStageTasks = [],
}: {
  readonly beforeStageTasks?: readonly T[];
  readonly afterStageTasks?: readonly T[];
}): readonly T[] => [...beforeStageTasks, ...afterStageTasks];

const spec = s.object(
  {
    stages: s.array(stage, {
      doc: 'The stages, in order. Every picked cluster must belong to exactly one.',
      maxItems: 31,
      // Differs from KubeFleet: stages with equal names share an approval request there, so one approval opens both
      // gates.
      rules: [rule('self.all(stage, self.exists_one(other, other.name == stage.name))', 'stage names must be unique')],
    }),
  },
  { doc: 'Desired state.' },
);

/** The copy in a run, which was validated when the strategy was written. */
export const recordedStrategy = s.unruled(s.doc('The strategy as it was when the run began.', spec));

const pair = definePair({
  in: placementGroup,
  versions: V1,
  spec,
  cluster: {
    kind: 'ClusterStagedUpdateStrategy',
    plural: 'clusterstagedupdatestrategies',
    short: 'csus',
    versions: V1_AND_ALPHA,
    doc: 'Stages for runs on ClusterResourcePlacements.',
    // There is no status field, but clients may rely on the endpoint.
    statusSubresource: true,
  },
  namespaced: {
    kind: 'StagedUpdateStrategy',
    plural: 'stagedupdatestrategies',
    short: 'sus',
    doc: 'Stages for runs on ResourcePlacements of the same namespace.',
  },
});

export const stagedUpdateStrategy = {
  cluster: Object.freeze({ ...pair.cluster, admit: admitStrategy }),
  namespaced: Object.freeze({ ...pair.namespaced, admit: admitStrategy }),
};

export type StagedUpdateStrategySpec = Infer<typeof spec>;
export type StagedUpdateStrategy = WithSpec<StagedUpdateStrategySpec>;
