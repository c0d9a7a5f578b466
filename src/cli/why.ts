// `flotilla why placement/NAME [--cluster C]`: why it does not move. Reads the API and nothing else, with the caller's rights, so it answers while
// the hub is down and on any Kubernetes API server.
import type { Clock } from '../base/clock.ts';
import type { Connected } from './connect.ts';
import { explain } from './explain.ts';
import { createReader } from './readable.ts';
import { renderWhy } from './render-why.ts';
import { EXIT } from './showing.ts';
import type { Print } from './target.ts';
import { getPlacement, type WhichPlacement } from './which-placement.ts';

export interface WhyOptions {
  readonly cluster?: string;
  readonly output?: string;
  readonly clock: Clock;
}

/** Returns the exit code. */
export async function why(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
  { cluster, output, clock }: WhyOptions,
  print: Print,
): Promise<number> {
  const placement = await getPlacement(server, which);
  const now = clock.now();
  const explanation = await explain({ which, placement, reader: createReader(server, which), now }, cluster);
  print.line(output === 'json' ? JSON.stringify(explanation, undefined, 2) : renderWhy(explanation, now));
  return explanation.isWaiting ? EXIT.waiting : EXIT.complete;
}
