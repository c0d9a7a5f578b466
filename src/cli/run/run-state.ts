// `flotilla run start|stop|resume NAME`: changes the state of a run. Repeating a command is no error, but is reported.
import type { RunState, StagedUpdateRun } from '../../api/staged-update-run.ts';
import { UserError } from '../../base/errors.ts';
import { phaseOf } from '../../insight/progress/run-progress.ts';
import { runTarget, titleOfRun, typed, type WhichRun } from '../../insight/which-run.ts';
import { whyNotAsked } from '../approve/which-gate.ts';
import type { Connected } from '../server/connect.ts';
import { getRun } from '../server/get-run.ts';
import { type Print, refer } from '../server/target.ts';

export type RunVerb = 'start' | 'stop' | 'resume';

const DONE: Readonly<Record<RunVerb, string>> = { start: 'started', stop: 'stopping', resume: 'resumed' };
const WANTED: Readonly<Record<RunVerb, RunState>> = { start: 'Run', stop: 'Stop', resume: 'Run' };

/** Returns the name of the placement. */
export async function setRunState(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichRun,
  verb: RunVerb,
  print: Print,
): Promise<string> {
  const run = await getRun(server, which);
  checkMayChange(run, which, verb);
  const { resourceVersion } = run.metadata;
  await server.transport.call({
    verb: 'patch',
    at: runTarget(which),
    patch: {
      type: 'merge',
      body: {
        metadata: resourceVersion === undefined ? {} : { resourceVersion },
        spec: { state: WANTED[verb] },
      },
    },
    manager: 'flotilla',
  });
  print.line(`${refer(runTarget(which))} ${DONE[verb]}`);
  print.line(`Follow: flotilla run show ${typed(which)}${verb === 'stop' ? '' : ' --watch'}`);
  return run.spec.placementName ?? '';
}

/** Throws a UserError with the command that was probably meant. */
export function checkMayChange(run: StagedUpdateRun, which: WhichRun, verb: RunVerb): void {
  const title = titleOfRun(which);
  const phase = phaseOf(run);
  const refuse = (reason: string, why: string) => new UserError(reason, `${title} ${why}`);
  if (phase === 'Succeeded' || phase === 'Failed')
    throw refuse('Over', `cannot ${verb}: ${whyNotAsked(run)}; create a new run (flotilla run create)`);
  if (phase === 'Deleting') throw refuse('Deleting', `cannot ${verb}: it is being deleted`);
  const { state } = run.spec;
  if (state === WANTED[verb]) throw refuse('NoChange', state === 'Stop' ? 'is stopped already' : 'is started already');
  if (verb === 'stop' && state === 'Initialize')
    throw refuse('NotStarted', 'has not been started: there is nothing to stop');
  if (verb === 'start' && state === 'Stop') throw refuse('Stopped', `is stopped: flotilla run resume ${typed(which)}`);
  if (verb === 'resume' && state === 'Initialize')
    throw refuse('NotStarted', `has not been started: flotilla run start ${typed(which)}`);
}
