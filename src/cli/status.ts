// `flotilla status placement/NAME`: how far it is, once or until it is complete.
import type { Placement } from '../api/placement.ts';
import type { Clock } from '../base/clock.ts';
import { formatDuration } from '../base/duration.ts';
import { UserError } from '../base/errors.ts';
import type { Connected } from './connect.ts';
import { follow } from './follow.ts';
import { inWords, type Progress, progressOf } from './placement-progress.ts';
import { headline, renderChanges, renderStatus, type StatusView } from './render-status.ts';
import type { Print } from './target.ts';
import type { Terminal } from './terminal.ts';
import { argumentOf, getPlacement, placementTarget, titleOf, type WhichPlacement } from './which-placement.ts';

export const EXIT = { complete: 0, waiting: 2, interrupted: 130 } as const;

export interface StatusOptions {
  readonly output?: string;
  readonly watch?: boolean;
  /** How long to watch. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Absent = plain lines. */
  readonly terminal?: Terminal;
}

/** Returns the exit code. */
export async function status(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
  options: StatusOptions,
  print: Print,
): Promise<number> {
  const placement = await getPlacement(server, which);
  if (!options.watch) {
    const progress = progressOf(placement);
    print.line(
      options.output === 'json'
        ? JSON.stringify(jsonOf(progress, placement), undefined, 2)
        : renderStatus(progress, viewOf(which, placement, progress, options)),
    );
    return progress.isComplete ? EXIT.complete : EXIT.waiting;
  }
  return watch(server, which, options, print);
}

async function watch(
  server: Pick<Connected, 'transport'>,
  which: WhichPlacement,
  options: StatusOptions,
  print: Print,
): Promise<number> {
  const { clock, signal, timeoutMs } = options;
  const over = new AbortController();
  const cancel =
    timeoutMs === undefined ? () => {} : clock.at(clock.now() + timeoutMs, 'status timeout', () => over.abort());
  const show = shower(which, options, print);
  const onLost = (message: string) => print.warning(`${message}; waiting for the server`);
  let last: Progress | undefined;
  try {
    const changes = follow(server.transport, placementTarget(which), {
      clock,
      signal: AbortSignal.any([signal, over.signal]),
      onLost,
    });
    for await (const object of changes) {
      if (object === undefined) throw new UserError('Deleted', `${titleOf(which)} was deleted`);
      last = show(object as Placement);
      if (last.isComplete) return EXIT.complete;
    }
  } finally {
    cancel();
  }
  if (!over.signal.aborted) return EXIT.interrupted;
  print.error(
    `not complete after ${formatDuration(timeoutMs ?? 0)}: ${last === undefined ? titleOf(which) : headline(last)}`,
  );
  return EXIT.waiting;
}

/** Shows each picture in the form that was asked for. */
function shower(which: WhichPlacement, options: StatusOptions, print: Print): (placement: Placement) => Progress {
  let before: Progress | undefined;
  let told = '';
  return (placement) => {
    const progress = progressOf(placement);
    const view = viewOf(which, placement, progress, options);
    if (options.output === 'json') {
      const text = JSON.stringify(jsonOf(progress, placement));
      if (text !== told) print.line(text);
      told = text;
    } else if (options.terminal !== undefined) options.terminal.draw(renderStatus(progress, view));
    else renderChanges(before, progress, view).forEach(print.line);
    before = progress;
    return progress;
  };
}

/** Lines around the table: headline, bar, remark, two blanks, header, "more", why. */
const AROUND = 9;

function viewOf(
  which: WhichPlacement,
  placement: Placement,
  { holds }: Progress,
  { terminal, watch, clock }: StatusOptions,
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
