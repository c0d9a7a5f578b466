// ReportDiff of one manifest: its differences, without any write. Pure.
// Differs from KubeFleet: a report takes nothing over, and does not depend on whenToTakeOver.
import type { KubeObject } from '../../api/object.ts';
import { compared } from '../compare/compare.ts';
import type { Identifier } from './manifest.ts';
import type { Strategy } from './manner.ts';
import type { Outcome } from './outcome.ts';
import type { Wanted } from './wanted.ts';

export interface Reported {
  readonly identifier: Identifier;
  readonly strategy: Strategy;
  wanted(): Wanted;
}

export function reported({ identifier, strategy, wanted }: Reported, live: KubeObject | undefined): Outcome {
  const diffs = compared(wanted().object, live, strategy.comparisonOption, strategy.comparePatches);
  return {
    identifier,
    generation: live?.metadata.generation ?? 0,
    ...(diffs.length === 0 ? {} : { diffs }),
    ...(live?.metadata.uid === undefined ? {} : { uid: live.metadata.uid }),
  };
}
