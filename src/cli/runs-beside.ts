// The run that moves a placement with strategy External, beside what `flotilla status` shows of the placement itself.
import type { StagedUpdateRun } from '../api/staged-update-run.ts';
import type { Connected } from './connect.ts';
import { createReader, ifRead } from './readable.ts';
import type { StatusView } from './render-status.ts';
import { runProgressOf } from './run-progress.ts';
import { openRuns } from './runs-of-placement.ts';
import type { Shown, ShowOptions } from './showing.ts';
import type { WhichPlacement } from './which-placement.ts';
import { titleOfRun, typed, within } from './which-run.ts';

export interface RunsBeside {
  readonly beside: NonNullable<Shown<unknown>['beside']>;
  /** What is to be said of them; nothing where they may not be read. */
  inView(): Promise<Pick<StatusView, 'waiting' | 'run'>>;
}

export function runsBeside(
  server: Pick<Connected, 'transport'>,
  which: WhichPlacement,
  { watch }: Pick<ShowOptions, 'watch'>,
): RunsBeside {
  const known = new Map<string, StagedUpdateRun>();
  let told = '';
  const inView = (runs: readonly StagedUpdateRun[]) => viewOf(which, openRuns(runs)[0]);
  return {
    beside: {
      at: { resource: which.family.run, ...within(which.namespace) },
      hear(events) {
        for (const { type, object } of events) {
          const run = object as StagedUpdateRun;
          if (type === 'BOOKMARK' || run.spec?.placementName !== which.name) continue;
          if (type === 'DELETED') known.delete(run.metadata.name ?? '');
          else known.set(run.metadata.name ?? '', run);
        }
        const now = JSON.stringify(inView([...known.values()]));
        const isNews = now !== told;
        told = now;
        return isNews;
      },
    },
    // A watch tells those that are there by itself.
    inView: async () => inView(watch ? [...known.values()] : (ifRead(await createReader(server, which).runs()) ?? [])),
  };
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
