// The flags about members that fall silent or leave, for all commands that run the hub's controllers.
import type { Command } from 'commander';
import type { Settings } from '../hub/membership/observed.ts';
import { wholeNumber } from './whole-number.ts';

export interface MembershipFlags {
  /** In seconds. */
  readonly forceDeleteWaitTime: number;
  readonly unreachablePeriods: number;
}

export const keepingMembers = (command: Command): Command =>
  command
    .option(
      '--force-delete-wait-time <seconds>',
      'how long a leaving member may take before it is let go',
      wholeNumber(30, 3600),
      900,
    )
    .option(
      '--unreachable-periods <number>',
      'heartbeats that may be missed before a member counts as unreachable',
      wholeNumber(1, 100),
      3,
    );

export const membershipOf = (flags: MembershipFlags): Pick<Settings, 'forceDeleteWaitMs' | 'unreachablePeriods'> => ({
  forceDeleteWaitMs: flags.forceDeleteWaitTime * 1000,
  unreachablePeriods: flags.unreachablePeriods,
});
