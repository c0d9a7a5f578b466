// `flotilla status placement/NAME`: its progress, once or until it is complete.

import type { Placement } from '../../api/placement.ts';
import { kubeTime } from '../../base/clock.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { inWords, type Progress, progressOf } from '../../insight/progress/placement-progress.ts';
import { labelOf } from '../../insight/progress/stuck.ts';
import { argumentOf, placementTarget, type WhichPlacement } from '../../insight/which-placement.ts';
import { carriedOf } from '../reading/carried.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import type { Print } from '../server/target.ts';
import { EXIT, type Shown, type ShowOptions, show } from '../terminal/showing.ts';
import { hubAhead } from './hub-ahead.ts';
import { headline, renderChanges, renderStatus, type StatusView } from './render-status.ts';
import { type RunsBeside, runsBeside } from './runs-beside.ts';

/** Returns the exit code. */
export async function status(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
  options: ShowOptions,
  print: Print,
): Promise<number> {
  const now = await getPlacement(server, which);
  const runs = isExternal(now) ? runsBeside(server, which) : undefined;
  return show(server.transport, shownOf(server, which, options, runs), { now, options, print });
}

interface Picture {
  readonly placement: Placement;
  readonly progress: Progress;
  /** What the run in progress waits for, and the command that shows the run. */
  readonly waiting?: string;
  readonly run?: string;
}

function shownOf(
  server: Pick<Connected, 'transport'>,
  which: WhichPlacement,
  options: ShowOptions,
  runs?: RunsBeside,
): Shown<Picture> {
  const carried = carriedOf(server, which);
  // Computed for each drawing, because durations change.
  const view = ({ placement, progress, waiting, run }: Picture): StatusView => ({
    ...(waiting === undefined || (progress.open?.step !== 'RolloutStarted' && progress.earlier === 0)
      ? {}
      : { waiting }),
    ...(run === undefined ? {} : { run }),
    ...viewOf(which, placement, progress, options),
  });
  return {
    at: placementTarget(which),
    async look(object) {
      const placement = object as Placement;
      const progress = progressOf(placement, await carried(placement), await runs?.staging(placement));
      const isAtRest = runs !== undefined && !options.watch && progress.isComplete;
      const ahead = isAtRest ? await hubAhead(server, which, placement) : undefined;
      const noted = ahead === undefined ? progress : { ...progress, notes: [...progress.notes, ahead] };
      return { placement, progress: noted, ...(await runs?.inView()) };
    },
    ...(runs === undefined ? {} : { beside: runs.beside }),
    exit: ({ progress }) => (progress.isComplete ? EXIT.complete : EXIT.waiting),
    headline: ({ progress }) => headline(progress),
    text: (picture) => renderStatus(picture.progress, view(picture)),
    changes: (before, picture) => [
      ...renderChanges(before?.progress, picture.progress, view(picture)),
      ...(picture.run === undefined || picture.run === before?.run ? [] : [`Run: ${picture.run}`]),
    ],
    json: ({ progress, placement, run }) => ({
      ...jsonOf(progress, placement),
      ...(run === undefined ? {} : { run }),
    }),
  };
}

function viewOf(
  which: WhichPlacement,
  placement: Placement,
  { holds, clusters }: Progress,
  { terminal, watch, clock }: ShowOptions,
): StatusView {
  const [first] = holds;
  return {
    now: clock.now(),
    more: `flotilla why ${argumentOf(which)}`,
    diff: `flotilla diff ${argumentOf(which)}`,
    ...(first === undefined
      ? {}
      : { waiting: inWords(first, placement), label: labelOf(first, clock.now(), clusters) }),
    ...(terminal === undefined ? {} : { bar: Math.max(10, Math.min(40, terminal.columns - 10)) }),
    ...(terminal === undefined || !watch ? {} : { columns: terminal.columns, rows: terminal.rows }),
  };
}

/** The same facts for programs, with times as in the API. */
function jsonOf(progress: Progress, placement: Placement) {
  const { clusters, open, holds, ...rest } = progress;
  return {
    ...rest,
    ...(open === undefined ? {} : { open: openOf(open) }),
    clusters: clusters.map(({ since, ...each }) => ({
      ...each,
      ...(since === undefined ? {} : { since: kubeTime(since) }),
    })),
    holds: holds.map((entry) => ({ ...entry, sentence: inWords(entry, placement) })),
  };
}

const openOf = ({ step, status, reason, message, lastTransitionTime }: NonNullable<Progress['open']>) => ({
  step,
  status,
  reason,
  message,
  since: lastTransitionTime,
});
