// `flotilla why placement/NAME` and `flotilla why run/NAME`, optionally with `--cluster C`: why it does not progress.
// Reads the APIs of the hub and of reachable members with the caller's permissions, so it works while the hub is down
// and on any Kubernetes API server.
import { type Clock, kubeTime } from '../../base/clock.ts';
import { explain } from '../../insight/explain/explain.ts';
import { explainRun } from '../../insight/explain/explain-run.ts';
import { type Explanation, wholeSentence } from '../../insight/explain/explanation.ts';
import { ifRead } from '../../insight/reader.ts';
import { NAME, type WhichPlacement } from '../../insight/which-placement.ts';
import type { WhichRun } from '../../insight/which-run.ts';
import type { Members } from '../reading/member-servers.ts';
import { createReader } from '../reading/readable.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import { getRun } from '../server/get-run.ts';
import type { Print } from '../server/target.ts';
import { forPrograms } from '../terminal/output.ts';
import { EXIT } from '../terminal/showing.ts';
import { renderWhy } from './render-why.ts';
import { explainEviction, readEviction } from './why-eviction.ts';

export interface WhyOptions {
  readonly cluster?: string;
  readonly output?: string;
  readonly clock: Clock;
  /** The width of the terminal, if there is one. */
  readonly columns?: number;
  readonly members?: Pick<Members, 'at'>;
}

type Server = Pick<Connected, 'transport' | 'catalogue'>;

/** Returns the exit code. */
export async function why(
  server: Server,
  which: WhichPlacement,
  { cluster, members, ...options }: WhyOptions,
  print: Print,
): Promise<number> {
  const placement = await getPlacement(server, which);
  const now = options.clock.now();
  return tell(
    await explain({ which, placement, reader: createReader(server, which, members), now }, cluster),
    options,
    print,
  );
}

/** Returns the exit code. */
export async function whyRun(
  server: Server,
  which: WhichRun,
  { cluster, members, ...options }: WhyOptions,
  print: Print,
): Promise<number> {
  const run = await getRun(server, which);
  const now = options.clock.now();
  const { placementName } = run.spec;
  const reader = createReader(server, { ...which, name: placementName }, members);
  const placement = NAME.test(placementName) ? ifRead(await reader.placement()) : undefined;
  return tell(await explainRun({ which, run, placement, reader, now }, cluster), options, print);
}

function tell(
  explanation: Explanation,
  { output, clock, columns }: Pick<WhyOptions, 'output' | 'clock' | 'columns'>,
  print: Print,
): number {
  print.line(forPrograms(output, () => jsonOf(explanation)) ?? renderWhy(explanation, clock.now(), columns));
  return explanation.isWaiting ? EXIT.waiting : EXIT.complete;
}

/** Returns the exit code. */
export async function whyEviction(server: Server, name: string, options: WhyOptions, print: Print): Promise<number> {
  const found = await readEviction(server, name);
  return tell(explainEviction(found, options.clock.now()), options, print);
}

/** The same facts for programs, with times as in the API. */
function jsonOf({ since, causes, sentence, root, ...rest }: Explanation) {
  return {
    ...rest,
    sentence: wholeSentence({ sentence, root }),
    ...timed('since', since),
    causes: causes.map(({ since: began, until, brief: _brief, detail: _detail, ...cause }) => ({
      ...cause,
      ...timed('since', began),
      ...timed('until', until),
    })),
  };
}

/** An invalid time is left out. */
const timed = <Name extends string>(name: Name, ms: number | undefined) =>
  ms === undefined || Number.isNaN(ms) ? {} : ({ [name]: kubeTime(ms) } as Record<Name, string>);
