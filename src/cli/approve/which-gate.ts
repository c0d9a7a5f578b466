// Which gate of a run a user means: a stage has one before it, one after it, both or none.
import { conditionOf } from '../../api/next-condition.ts';
import type { StagedUpdateRun, StageStatus, StageTaskStatus } from '../../api/staged-update-run.ts';
import { UserError } from '../../base/errors.ts';
import { withoutMarker } from '../../insight/plain-text.ts';

export type When = 'before' | 'after';

export interface Gate {
  readonly when: When;
  /** The name of the request that opens it. */
  readonly request: string;
  /** The approval was requested. */
  readonly isAsked: boolean;
  /** It is open, whatever the state of the request. */
  readonly isOpen: boolean;
}

export interface Asked {
  readonly stage: string;
  /** Absent = the closed one; the first if both are closed. */
  readonly when?: When;
}

/** Without a stage: the one gate that waits for an approval. Throws a UserError that lists the gates. */
export function gateAsked(run: StagedUpdateRun, title: string, when?: When): Required<Asked> {
  const stages = stagesIn(run, title);
  const closed = stages.flatMap((stage) =>
    approvalsOf(stage)
      .filter((gate) => !gate.isOpen && (when === undefined || gate.when === when))
      .map((gate) => ({ ...gate, stage: stage.stageName })),
  );
  const isOver = conditionOf(run.status?.conditions, 'Succeeded') !== undefined;
  const asked = isOver ? [] : closed.filter(({ isAsked }) => isAsked);
  const [only, second] = asked;
  if (only !== undefined && second === undefined) return { stage: only.stage, when: only.when };
  const listed = (gates: typeof closed) => gates.map((gate) => `--stage ${gate.stage} --${gate.when}`).join(', ');
  if (second !== undefined) {
    const many = `${asked.length} gates of ${title} wait for an approval`;
    throw new UserError('BadFlag', `name one with --stage: ${many}: ${listed(asked)}`);
  }
  const later = isOver || closed.length === 0 ? '' : `; those still to come: ${listed(closed)}`;
  throw new UserError('NotAsked', `no gate of ${title} waits for an approval now: ${whyNotAsked(run)}${later}`);
}

function stagesIn({ status }: StagedUpdateRun, title: string): readonly StageStatus[] {
  const { stagesStatus = [], conditions } = status ?? {};
  if (stagesStatus.length > 0) return stagesStatus;
  const why = conditionOf(conditions, 'Initialized')?.message ?? 'the hub has not processed it';
  throw new UserError('NotReady', `${title} has no stages yet: ${withoutMarker(why)}`);
}

/** `title`: of the run, as in `StagedUpdateRun "team/r"`. Throws a UserError that lists the existing gates. */
export function gateOf(run: StagedUpdateRun, title: string, { stage, when }: Asked): Gate {
  const stagesStatus = stagesIn(run, title);
  const found = stagesStatus.find(({ stageName }) => stageName === stage);
  if (found === undefined) {
    const known = stagesStatus.map(({ stageName }) => stageName).join(', ');
    throw new UserError('NotFound', `${title} has no stage "${stage}" (its stages: ${known})`);
  }
  const gates = approvalsOf(found);
  const fitting = when === undefined ? gates : gates.filter((gate) => gate.when === when);
  // The gate after a stage is requested long after the one before it is open, so if both are closed the first is meant.
  const gate = fitting.find(({ isOpen }) => !isOpen) ?? fitting.at(-1);
  if (gate !== undefined) return gate;
  const other = gates[0] && `; it asks for one ${gates[0].when} it: --${gates[0].when}`;
  const where = when === undefined ? '' : ` ${when} it`;
  throw new UserError('NotFound', `stage "${stage}" of ${title} asks for no approval${where}${other ?? ''}`);
}

const approvalsOf = ({ beforeStageTaskStatus, afterStageTaskStatus }: StageStatus): readonly Gate[] => [
  ...gatesIn('before', beforeStageTaskStatus),
  ...gatesIn('after', afterStageTaskStatus),
];

const gatesIn = (when: When, tasks: readonly StageTaskStatus[] = []): readonly Gate[] =>
  tasks
    .filter(({ type }) => type === 'Approval')
    .map(({ approvalRequestName: request = '', conditions }) => ({
      when,
      request,
      isAsked: conditionOf(conditions, 'ApprovalRequestCreated')?.status === 'True',
      isOpen: conditionOf(conditions, 'ApprovalRequestApproved')?.status === 'True',
    }));

/** Why a run has not requested an approval yet, as far as its status shows. */
export function whyNotAsked({ spec, status }: StagedUpdateRun): string {
  const succeeded = conditionOf(status?.conditions, 'Succeeded');
  if (succeeded !== undefined) return `it has ended: ${withoutMarker(succeeded.message)}`;
  if (spec.state === 'Initialize') return 'it is not started; set spec.state to Run';
  return conditionOf(status?.conditions, 'Progressing')?.message || 'it has not begun';
}
