import { Command } from 'commander';
import { expect, test } from 'vitest';
import { memberRules } from '../api/agent-rights.ts';
import { keepingMembers, type MembershipFlags, membershipOf } from './membership-flags.ts';

const settingsOf = (...args: readonly string[]) =>
  membershipOf(keepingMembers(new Command()).exitOverride().parse(args, { from: 'user' }).opts<MembershipFlags>());

test('networking agents are expected, and have rights, only where that is asked for', () => {
  expect(settingsOf()).toEqual({ forceDeleteWaitMs: 900_000, unreachablePeriods: 3 });
  const { agents, rules } = settingsOf('--networking-agents-enabled');
  expect(agents).toEqual(['MemberAgent', 'MultiClusterServiceAgent', 'ServiceExportImportAgent']);
  expect(rules?.slice(0, memberRules.length)).toEqual(memberRules);
  expect(rules?.at(-1)?.apiGroups).toEqual(['networking.fleet.azure.com']);
});
