// What a run is about that is not built yet: as long as there is such a thing, nothing of it moves. Envelopes in a revision that exists were
// looked for when it was made.
import { type NotSupported, notSupported } from '../orders/unsupported.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { type HubRun, isOver } from '../staged-sources.ts';

interface About {
  readonly run: HubRun;
  readonly placement: HubPlacement | undefined;
}

export function unsupportedIn({ run, placement }: About): readonly NotSupported[] {
  if (placement === undefined || isOver(run)) return [];
  return notSupported(placement);
}
