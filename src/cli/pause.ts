// `flotilla pause|resume placement/NAME`: pauses or resumes a rolling or partitioned rollout. Only spec.strategy.paused
// is written.
import type { Placement } from '../api/placement.ts';
import { UserError } from '../base/errors.ts';
import { placementTarget, titleOf, type WhichPlacement } from '../insight/which-placement.ts';
import type { Connected } from './server/connect.ts';
import { getPlacement } from './server/get-placement.ts';
import { type Print, refer } from './server/target.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export async function setPaused(server: Server, which: WhichPlacement, paused: boolean, print: Print): Promise<void> {
  const { spec, metadata } = await getPlacement(server, which);
  if (metadata.deletionTimestamp !== undefined) {
    throw new UserError('Deleting', `${titleOf(which)} is being deleted: a pause has no effect`);
  }
  if (spec.strategy?.type === 'External') {
    const runs = 'staged update runs roll it out; stop the run instead (spec.state: Stop)';
    throw new UserError('NotPausable', `${titleOf(which)} has strategy type External: ${runs}`);
  }
  const at = placementTarget(which);
  const word = paused ? 'paused' : 'resumed';
  if ((spec.strategy?.paused ?? false) === paused) {
    print.line(`${refer(at)} is ${paused ? 'paused already' : 'not paused'}`);
    return;
  }
  // A merge patch without a resourceVersion, because changes of other fields do not matter.
  const { object, warnings = [] } = await server.transport.call({
    verb: 'patch',
    at,
    patch: { type: 'merge', body: { spec: { strategy: { paused: paused ? true : null } } } },
    manager: 'flotilla',
  });
  for (const warning of warnings) print.warning(warning);
  print.line(`${refer(at)} ${word}${paused ? whileItLasts(object as Placement) : ''}`);
}

const whileItLasts = ({ status }: Placement): string => {
  const { rollout } = status ?? {};
  const waiting = rollout === undefined ? 0 : rollout.outOfSync + rollout.pending;
  return waiting === 0 ? '' : `: ${waiting} of ${rollout?.desiredReady} clusters wait`;
};
