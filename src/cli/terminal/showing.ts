// Shows progress once or continuously: on a terminal, in plain lines, or for programs. Uses a watch, never polls.
import type { KubeObject } from '../../api/object.ts';
import type { Target, Transport, WatchEvent } from '../../api/transport.ts';
import type { Clock } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import { UserError } from '../../base/errors.ts';
import { interleaved } from '../../base/interleave.ts';
import { type Named, titled } from '../../insight/titled.ts';
import { follow, followLabelled } from '../server/follow.ts';
import type { Print } from '../server/target.ts';
import { forPrograms } from './output.ts';
import type { Terminal } from './terminal.ts';

/** `failed`: it is over without success. */
export const EXIT = { complete: 0, waiting: 2, failed: 3, interrupted: 130 } as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

export interface ShowOptions {
  readonly output?: string;
  readonly watch?: boolean;
  /** How long to watch. */
  readonly timeoutMs?: number;
  readonly clock: Clock;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Absent = plain lines. */
  readonly terminal?: Terminal;
}

/** How to show an object, with related objects. */
export interface Shown<Picture> {
  readonly at: Named;
  look(object: KubeObject): Picture | Promise<Picture>;
  /** Related objects that change independently; `hear` tells whether an event requires a new picture. */
  readonly beside?: {
    readonly at: Target;
    /** Absent = all of them. */
    readonly labels?: string;
    hear(events: readonly WatchEvent[]): boolean;
  };
  /** The exit code if the command ended now. Watching continues while it is `waiting`. */
  exit(picture: Picture): Exit;
  headline(picture: Picture): string;
  text(picture: Picture): string;
  /** The changes line by line. */
  changes(before: Picture | undefined, after: Picture): readonly string[];
  json(picture: Picture): object;
}

/** `now`: the object as it was read. Returns the exit code. */
export async function show<Picture>(
  transport: Transport,
  shown: Shown<Picture>,
  { now, options, print }: { readonly now: KubeObject; readonly options: ShowOptions; readonly print: Print },
): Promise<number> {
  if (options.watch) return watch(transport, shown, options, print);
  const picture = await shown.look(now);
  print.line(forPrograms(options.output, () => shown.json(picture)) ?? shown.text(picture));
  return shown.exit(picture);
}

async function watch<Picture>(
  transport: Transport,
  shown: Shown<Picture>,
  options: ShowOptions,
  print: Print,
): Promise<number> {
  const { clock, signal, timeoutMs } = options;
  const over = new AbortController();
  const cancel =
    timeoutMs === undefined ? () => {} : clock.at(clock.now() + timeoutMs, 'status timeout', () => over.abort());
  const tell = teller(shown, options, print);
  let stopDrawing = () => {};
  const onLost = (message: string) => print.warning(`${message}; waiting for the server`);
  const ended = new AbortController();
  const following = { clock, signal: AbortSignal.any([signal, over.signal, ended.signal]) };
  const { beside } = shown;
  let object: KubeObject | undefined;
  let last: Picture | undefined;
  try {
    const changes = interleaved(
      follow(transport, shown.at, { ...following, onLost }),
      beside === undefined ? nothing() : followLabelled(transport, beside, following),
    );
    for await (const change of changes) {
      if ('main' in change) {
        object = change.main;
        if (object === undefined) throw new UserError('Deleted', `${titled(shown.at)} was deleted`);
      } else if (!beside?.hear(change.side) || object === undefined) continue;
      last = await shown.look(object);
      tell(last);
      stopDrawing();
      stopDrawing = drawnAgain(shown, last, options);
      const code = shown.exit(last);
      if (code !== EXIT.waiting) return code;
    }
  } finally {
    stopDrawing();
    cancel();
    ended.abort();
  }
  if (!over.signal.aborted) return EXIT.interrupted;
  const far = last === undefined ? titled(shown.at) : shown.headline(last);
  print.error(`not complete after ${formatDuration(timeoutMs ?? 0)}: ${far}`);
  return EXIT.waiting;
}

const EVERY_MS = 1000;

/** On a terminal, durations are redrawn while nothing changes. Calling the result stops that. */
function drawnAgain<Picture>(shown: Shown<Picture>, picture: Picture, { output, terminal, clock }: ShowOptions) {
  if (terminal === undefined || output === 'json' || output === 'yaml') return () => {};
  let drawn = shown.text(picture);
  const next = () => clock.at(clock.now() + EVERY_MS, 'draw again', again);
  let cancel = next();
  function again(): void {
    const text = shown.text(picture);
    if (text !== drawn) terminal?.draw(text);
    drawn = text;
    cancel = next();
  }
  return () => cancel();
}

async function* nothing(): AsyncGenerator<never, void> {}

/** Prints each picture in the requested format. */
function teller<Picture>(
  shown: Shown<Picture>,
  { output, terminal }: ShowOptions,
  print: Print,
): (picture: Picture) => void {
  let before: Picture | undefined;
  let told = '';
  return (picture) => {
    if (output === 'json' || output === 'yaml') {
      const facts = shown.json(picture);
      const text = output === 'json' ? JSON.stringify(facts) : `---\n${forPrograms(output, () => facts)}`;
      if (text !== told) print.line(text);
      told = text;
    } else if (terminal !== undefined) terminal.draw(shown.text(picture));
    else shown.changes(before, picture).forEach(print.line);
    before = picture;
  };
}
