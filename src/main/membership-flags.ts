// Flags about unreachable and leaving members, for all commands that run the hub's controllers.
import type { Command } from 'commander';
import { memberRules } from '../api/agent-rights.ts';
import type { Kind } from '../api/kind.ts';
import { hubKinds } from '../api/kinds.ts';
import { memberCluster } from '../api/member-cluster.ts';
import { networkedMemberCluster } from '../api/member-deletion.ts';
import type { AgentType } from '../api/member-status.ts';
import { networkingRules } from '../api/rights.ts';
import type { Settings } from '../hub/membership/observed.ts';
import { wholeNumber } from './whole-number.ts';

export interface MembershipFlags {
  /** In seconds. */
  readonly forceDeleteWaitTime: number;
  readonly unreachablePeriods: number;
  readonly networkingAgentsEnabled?: boolean;
}

export const keepingMembers = (command: Command): Command =>
  command
    .option(
      '--force-delete-wait-time <seconds>',
      'how long a member may take to leave before it is removed regardless',
      wholeNumber(30, 3600),
      900,
    )
    .option(
      '--unreachable-periods <number>',
      'heartbeats that may be missed before a member counts as unreachable',
      wholeNumber(1, 100),
      3,
    )
    .option(
      '--networking-agents-enabled',
      "expect KubeFleet's networking agents beside the agent of each member, and give them rights in its namespace",
    );

/** A member has joined once all of these have joined, and has left once all have left. */
const AGENTS: readonly AgentType[] = ['MemberAgent', 'MultiClusterServiceAgent', 'ServiceExportImportAgent'];

export const membershipOf = (flags: MembershipFlags): Partial<Settings> => ({
  ...(flags.networkingAgentsEnabled ? { agents: AGENTS, rules: [...memberRules, ...networkingRules] } : {}),
  forceDeleteWaitMs: flags.forceDeleteWaitTime * 1000,
  unreachablePeriods: flags.unreachablePeriods,
});

const networkedKinds = hubKinds.map((kind) => (kind === memberCluster ? networkedMemberCluster : kind));

/** The kinds of an embedded hub, whose admission runs in process. */
export const membershipKinds = (flags: Pick<MembershipFlags, 'networkingAgentsEnabled'>): readonly Kind[] =>
  flags.networkingAgentsEnabled ? networkedKinds : hubKinds;
