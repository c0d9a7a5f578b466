// Flags for all commands that run the hub's controllers: which objects may be placed, and how soon a change becomes a
// revision.
import { type Command, InvalidArgumentError } from 'commander';
import { formatDuration, parseDuration } from '../base/duration.ts';
import { UserError } from '../base/errors.ts';
import { defaultDelays } from '../hub/revisions/delays.ts';
import { parseApis } from '../hub/revisions/propagation.ts';
import type { HubOptions } from './parts.ts';

/** The parsed flags; times in ms. */
export interface PlacementFlags {
  readonly resourceSnapshotCreationMinimumInterval?: number;
  readonly resourceChangesCollectionDuration?: number;
  readonly placementDebounce?: number;
  readonly allowedPropagatingApis?: string;
  readonly skippedPropagatingApis?: string;
  readonly skippedPropagatingNamespaces?: string;
  readonly enableWorkload?: boolean;
}

const APIS = 'group;group/version;group/version/Kind,Kind';
const MINUTE = 60_000;

export const placing = (command: Command): Command =>
  command
    .option(
      '--resource-snapshot-creation-minimum-interval <duration>',
      'minimum time between two revisions of a placement, up to 5m (default: 0)',
      durationUpTo(5 * MINUTE),
    )
    .option(
      '--resource-changes-collection-duration <duration>',
      'how long changes are collected before they become a revision, up to 1m (default: 0)',
      durationUpTo(MINUTE),
    )
    .option(
      '--placement-debounce <duration>',
      `how long after the last change of a burst the revision is made, up to ${formatDuration(defaultDelays.longestMs)}; 0 = at once (default: ${formatDuration(defaultDelays.debounceMs)})`,
      durationUpTo(defaultDelays.longestMs),
    )
    .option('--allowed-propagating-apis <apis>', `only objects of these may be placed: ${APIS}`, apis)
    .option('--skipped-propagating-apis <apis>', `objects of these are not placed: ${APIS}`, apis)
    .option(
      '--skipped-propagating-namespaces <names>',
      'namespaces that are not placed, separated by commas, besides those of the system',
    )
    .option(
      '--enable-workload',
      'workloads run on the hub itself: its PersistentVolumeClaims are not placed, and are removed from clusters that have them',
    );

export function durationUpTo(max: number) {
  return (text: string): number => {
    const ms = parseDuration(text);
    if (ms === undefined || ms < 0 || ms > max) {
      throw new InvalidArgumentError(`A duration from 0 to ${formatDuration(max)} is expected, such as 500ms or 1s.`);
    }
    return ms;
  };
}

function apis(text: string): string {
  try {
    if (parseApis(text).length > 0) return text;
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  throw new InvalidArgumentError(`It names no API: ${APIS} is expected.`);
}

export function placementsOf(flags: PlacementFlags): NonNullable<HubOptions['placements']> {
  const { allowedPropagatingApis, skippedPropagatingApis, skippedPropagatingNamespaces, enableWorkload } = flags;
  if (allowedPropagatingApis !== undefined && skippedPropagatingApis !== undefined) {
    throw new UserError('BadFlag', 'set either --allowed-propagating-apis or --skipped-propagating-apis, not both');
  }
  return {
    throttle: {
      debounceMs: flags.placementDebounce ?? defaultDelays.debounceMs,
      collectionMs: flags.resourceChangesCollectionDuration ?? defaultDelays.collectionMs,
      minimumIntervalMs: flags.resourceSnapshotCreationMinimumInterval ?? defaultDelays.minimumIntervalMs,
    },
    propagation: {
      ...(allowedPropagatingApis === undefined ? {} : { allowedApis: allowedPropagatingApis }),
      ...(skippedPropagatingApis === undefined ? {} : { skippedApis: skippedPropagatingApis }),
      ...(skippedPropagatingNamespaces === undefined ? {} : { skippedNamespaces: skippedPropagatingNamespaces }),
      ...(enableWorkload === undefined ? {} : { enableWorkload }),
    },
  };
}
