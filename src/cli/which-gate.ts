// Which gate of a run a person means: a stage has one before it, one after it, both or none.
import { conditionOf } from '../api/next-condition.ts';
import type { StagedUpdateRun, StageTaskStatus } from '../api/staged-update-run.ts';
import { UserError } from '../base/errors.ts';
import { withoutMarker } from './plain-text.ts';

export type When = 'before' | 'after';

export interface Gate {
  readonly when: When;
  /** Of the request that opens it. */
  readonly request: string;
  /** It is open, whatever has become of the request. */
  readonly isOpen: boolean;
}

export interface Asked {
  readonly stage: string;
  /** Absent = the one that is closed; the first, if both are. */
  readonly when?: When;
}

/** `title`: of the run, as in `StagedUpdateRun "team/r"`. Throws a UserError that says what there is instead. */
export function gateOf({ status }: StagedUpdateRun, title: string, { stage, when }: Asked): Gate {
  const { stagesStatus = [], conditions } = status ?? {};
  if (stagesStatus.length === 0) {
    const why = conditionOf(conditions, 'Initialized')?.message ?? 'the hub has not looked at it';
    throw new UserError('NotReady', `${title} has no stages yet: ${withoutMarker(why)}`);
  }
  const found = stagesStatus.find(({ stageName }) => stageName === stage);
  if (found === undefined) {
    const known = stagesStatus.map(({ stageName }) => stageName).join(', ');
    throw new UserError('NotFound', `${title} has no stage "${stage}" (its stages: ${known})`);
  }
  const gates = [...gatesIn('before', found.beforeStageTaskStatus), ...gatesIn('after', found.afterStageTaskStatus)];
  const fitting = when === undefined ? gates : gates.filter((gate) => gate.when === when);
  // The gate after a stage is asked for when the one before it is long open, so nobody can mean the second of two that are closed.
  const gate = fitting.find(({ isOpen }) => !isOpen) ?? fitting.at(-1);
  if (gate !== undefined) return gate;
  const other = gates[0] && `; it asks for one ${gates[0].when} it: --${gates[0].when}`;
  const where = when === undefined ? '' : ` ${when} it`;
  throw new UserError('NotFound', `stage "${stage}" of ${title} asks for no approval${where}${other ?? ''}`);
}

const gatesIn = (when: When, tasks: readonly StageTaskStatus[] = []): readonly Gate[] =>
  tasks
    .filter(({ type }) => type === 'Approval')
    .map(({ approvalRequestName: request = '', conditions }) => ({
      when,
      request,
      isOpen: conditionOf(conditions, 'ApprovalRequestApproved')?.status === 'True',
    }));

/** Why a run does not ask for something yet, as far as it says. */
export function whyNotAsked({ spec, status }: StagedUpdateRun): string {
  const succeeded = conditionOf(status?.conditions, 'Succeeded');
  if (succeeded !== undefined) return `it is over: ${withoutMarker(succeeded.message)}`;
  if (spec.state === 'Initialize') return 'it is not started; set spec.state to Run';
  return conditionOf(status?.conditions, 'Progressing')?.message || 'it has not begun';
}
