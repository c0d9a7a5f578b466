// Unsupported features that a run would use: they block it. Envelopes in an existing revision were checked when it was
// created.
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
