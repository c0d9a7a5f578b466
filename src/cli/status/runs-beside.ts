// The run that moves a placement with strategy External, for `flotilla status`.
import type { Placement } from '../../api/placement.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { LostError } from '../../base/errors.ts';
import { byName } from '../../base/natural-order.ts';
import type { Staging } from '../../insight/progress/placement-progress.ts';
import { runProgressOf } from '../../insight/progress/run-progress.ts';
import { lastMovedBy, movedBy, openRuns } from '../../insight/progress/runs-of-placement.ts';
import { ifRead } from '../../insight/reader.ts';
import type { WhichPlacement } from '../../insight/which-placement.ts';
import { titleOfRun, typed, within } from '../../insight/which-run.ts';
import { indexIn } from '../reading/carried.ts';
import { createReader } from '../reading/readable.ts';
import type { Connected } from '../server/connect.ts';
import type { Shown } from '../terminal/showing.ts';
import type { StatusView } from './render-status.ts';

export interface RunsBeside {
  readonly beside: NonNullable<Shown<unknown>['beside']>;
  /** The lines about the runs; empty if they may not be read. */
  inView(): Promise<Pick<StatusView, 'waiting' | 'run'>>;
  staging(placement: Placement): Promise<Staging>;
}

export function runsBeside(server: Pick<Connected, 'transport'>, which: WhichPlacement): RunsBeside {
  const known = new Map<string, StagedUpdateRun>();
  let told = '';
  const inView = (runs: readonly StagedUpdateRun[]) => viewOf(which, openRuns(runs)[0]);
  let isHeard = false;
  const read = async () => ifRead(await createReader(server, which).runs()) ?? [];
  // A watch also sends existing runs; until it has, the picture must not look complete.
  const runsNow = async () => (isHeard ? [...known.values()] : await lost(read, []));
  const leavingNow = leavingIn(server, which);
  return {
    beside: {
      at: { resource: which.family.run, ...within(which.namespace) },
      hear(events) {
        isHeard = true;
        for (const { type, object } of events) {
          const run = object as StagedUpdateRun;
          if (type === 'BOOKMARK' || run.spec?.placementName !== which.name) continue;
          if (type === 'DELETED') known.delete(run.metadata.name ?? '');
          else known.set(run.metadata.name ?? '', run);
        }
        const runs = [...known.values()];
        const now = JSON.stringify([inView(runs), movedBy(runs)]);
        const isNews = now !== told;
        told = now;
        return isNews;
      },
    },
    inView: async () => inView(await runsNow()),
    async staging(placement) {
      const runs = await runsNow();
      const isMixed = (placement.status?.observedResourceIndex ?? '') === '';
      const run = movedBy(runs) ?? (isMixed ? lastMovedBy(runs) : undefined);
      const state = [placement.metadata.generation, run, openRuns(runs)[0]?.metadata.name];
      return { run, leaving: await leavingNow(JSON.stringify(state)) };
    },
  };
}

/**
 * A status does not list clusters that are no longer picked: they are read from the bindings, and again when `state`
 * changes.
 */
function leavingIn(server: Pick<Connected, 'transport'>, which: WhichPlacement) {
  let known: { readonly state: string; readonly leaving: Staging['leaving'] } | undefined;
  const read = async (): Promise<Staging['leaving']> =>
    (ifRead(await createReader(server, which).bindings()) ?? [])
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.state === 'Unscheduled')
      .map(({ spec }) => ({ cluster: spec.targetCluster, revision: indexIn(spec.resourceSnapshotName, which.name) }))
      .toSorted((a, b) => byName(a.cluster, b.cluster));
  return async (state: string): Promise<Staging['leaving']> => {
    if (known?.state !== state) known = { state, leaving: await lost(read, []) };
    return known.leaving;
  };
}

/** A command with --watch waits until the server answers again, and then calls this again. */
async function lost<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LostError) return otherwise;
    throw error;
  }
}

function viewOf(which: WhichPlacement, run: StagedUpdateRun | undefined): Pick<StatusView, 'waiting' | 'run'> {
  if (run === undefined) return {};
  const own = { ...which, name: run.metadata.name ?? '' };
  const { says } = runProgressOf(run, new Map());
  return {
    waiting: `${titleOfRun(own)}${says === '' ? '' : `: ${says}`}`,
    run: `flotilla run ${typed(own)}`,
  };
}
