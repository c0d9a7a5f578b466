// Flags about staged update runs, for all commands that run the hub's controllers.
import { type Command, InvalidArgumentError } from 'commander';
import { formatDuration, parseDuration } from '../base/duration.ts';
import { DEFAULT_STUCK_AFTER_MS } from '../hub/staged/observed.ts';
import type { HubOptions } from './parts.ts';

export interface RunFlags {
  /** In ms. */
  readonly stagedUpdateStuckAfter?: number;
}

const LEAST_MS = 1000;
const MAX_MS = 24 * 3_600_000;

export const staging = (command: Command): Command =>
  command.option(
    '--staged-update-stuck-after <duration>',
    `how long a staged update run waits for a cluster before it counts as stuck (default: ${formatDuration(DEFAULT_STUCK_AFTER_MS)})`,
    (text: string): number => {
      const ms = parseDuration(text);
      if (ms === undefined || ms < LEAST_MS || ms > MAX_MS) {
        throw new InvalidArgumentError(
          `A duration from ${formatDuration(LEAST_MS)} to ${formatDuration(MAX_MS)} is expected, such as 10m.`,
        );
      }
      return ms;
    },
  );

export const runsOf = ({ stagedUpdateStuckAfter: stuckAfterMs }: RunFlags): NonNullable<HubOptions['runs']> =>
  stuckAfterMs === undefined ? {} : { stuckAfterMs };
