// The annotations of a run: whether it continues when the fleet changes, and how long it waits for an unreachable
// cluster.
import { annotations } from '../../api/names.ts';
import { parseDuration } from '../../base/duration.ts';
import type { HubRun } from '../staged-sources.ts';

const CONTINUE = 'Continue';

/** The run keeps the clusters that it started with, even if clusters join, leave or are relabeled meanwhile. */
export const continuesOnChange = ({ metadata }: Pick<HubRun, 'metadata'>): boolean =>
  metadata.annotations?.[annotations.membershipChange] === CONTINUE;

/** undefined = it waits forever. */
export function unreachableAfterMs({ metadata }: Pick<HubRun, 'metadata'>): number | undefined {
  const text = metadata.annotations?.[annotations.unreachableAfter];
  const ms = text === undefined ? undefined : parseDuration(text);
  return ms !== undefined && ms > 0 ? ms : undefined;
}

/** Why an annotation is invalid; undefined = all are valid. */
export function troubleInAnnotations({ metadata }: Pick<HubRun, 'metadata'>): string | undefined {
  const change = metadata.annotations?.[annotations.membershipChange];
  if (change !== undefined && change !== CONTINUE && change !== 'Abort') {
    return `annotation ${annotations.membershipChange} is "${change}": Continue or Abort is expected`;
  }
  const after = metadata.annotations?.[annotations.unreachableAfter];
  if (after !== undefined && unreachableAfterMs({ metadata }) === undefined) {
    return `annotation ${annotations.unreachableAfter} is "${after}": a time above 0 is expected, such as 10m`;
  }
  return undefined;
}
