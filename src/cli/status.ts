// `flotilla status placement/NAME`: how far it is, once or until it is complete.
import type { Placement } from '../api/placement.ts';
import { carriedOf } from './carried.ts';
import type { Connected } from './connect.ts';
import { inWords, type Progress, progressOf } from './placement-progress.ts';
import { headline, renderChanges, renderStatus, type StatusView } from './render-status.ts';
import { EXIT, type Shown, type ShowOptions, show } from './showing.ts';
import type { Print } from './target.ts';
import { argumentOf, getPlacement, placementTarget, type WhichPlacement } from './which-placement.ts';

/** Returns the exit code. */
export async function status(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
  options: ShowOptions,
  print: Print,
): Promise<number> {
  const now = await getPlacement(server, which);
  return show(server.transport, shownOf(server, which, options), { now, options, print });
}

interface Picture {
  readonly placement: Placement;
  readonly progress: Progress;
  readonly view: StatusView;
}

function shownOf(server: Pick<Connected, 'transport'>, which: WhichPlacement, options: ShowOptions): Shown<Picture> {
  const carried = carriedOf(server, which);
  return {
    at: placementTarget(which),
    async look(object) {
      const placement = object as Placement;
      const progress = progressOf(placement, await carried(placement));
      return { placement, progress, view: viewOf(which, placement, progress, options) };
    },
    exit: ({ progress }) => (progress.isComplete ? EXIT.complete : EXIT.waiting),
    headline: ({ progress }) => headline(progress),
    text: ({ progress, view }) => renderStatus(progress, view),
    changes: (before, { progress, view }) => renderChanges(before?.progress, progress, view),
    json: ({ progress, placement }) => jsonOf(progress, placement),
  };
}

/** Lines around the table: headline, bar, remark, two blanks, header, "more", why. */
const AROUND = 9;

function viewOf(
  which: WhichPlacement,
  placement: Placement,
  { holds }: Progress,
  { terminal, watch, clock }: ShowOptions,
): StatusView {
  const [first] = holds;
  return {
    now: clock.now(),
    more: `flotilla why ${argumentOf(which)}`,
    ...(first === undefined ? {} : { waiting: inWords(first, placement) }),
    ...(terminal === undefined ? {} : { bar: Math.max(10, Math.min(40, terminal.columns - 10)) }),
    ...(terminal === undefined || !watch ? {} : { most: Math.max(3, terminal.rows - AROUND) }),
  };
}

/** For programs: the same facts. Times as in the API. */
function jsonOf(progress: Progress, placement: Placement) {
  const { clusters, open: _open, holds, ...rest } = progress;
  return {
    ...rest,
    clusters: clusters.map(({ since, ...each }) => ({
      ...each,
      ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    })),
    holds: holds.map((entry) => ({ ...entry, sentence: inWords(entry, placement) })),
  };
}
