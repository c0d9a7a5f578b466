// Reads a staged update run from the hub.
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { runTarget, type WhichRun } from '../../insight/which-run.ts';
import type { Connected } from './connect.ts';
import { getOr404 } from './not-found.ts';

export const getRun = async (
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichRun,
): Promise<StagedUpdateRun> =>
  (await getOr404(
    server,
    runTarget(which),
    which.namespace === undefined
      ? '; a StagedUpdateRun needs its namespace: -n'
      : '; omit -n for a ClusterStagedUpdateRun',
  )) as StagedUpdateRun;
