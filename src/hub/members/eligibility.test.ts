import { describe, expect, test } from 'vitest';
import type { MemberStatus } from '../../api/member-status.ts';
import { aCluster, aCondition, ago, anAgent, MINUTE, NOW } from '../membership/member.testing.ts';
import { eligibility, eligibilityTimeoutMs } from './eligibility.ts';

const status = (...agentStatus: NonNullable<MemberStatus['agentStatus']>): MemberStatus => ({ agentStatus });
const without = (type: string) => {
  const agent = anAgent('True');
  return { ...agent, conditions: agent.conditions?.filter((each) => each.type !== type) ?? [] };
};
const unhealthySince = (ms: number, how: 'False' | 'Unknown' = 'False') => ({
  ...without('Healthy'),
  conditions: [aCondition('Joined', 'True'), aCondition('Healthy', how, { lastTransitionTime: ago(ms) })],
});

describe('a member may be picked', () => {
  test.each([
    { it: 'when it has joined and is healthy', status: status(anAgent('True')) },
    {
      it: 'when its last heartbeat is just within five minutes',
      status: status(anAgent('True', { stamp: ago(5 * MINUTE) })),
    },
    { it: 'when it has not been unhealthy for long', status: status(unhealthySince(5 * MINUTE)) },
    {
      it: 'when it reports rarely but in time',
      period: 600,
      status: status(anAgent('True', { stamp: ago(30 * MINUTE) })),
    },
    {
      it: 'when another agent of it has not joined',
      status: status(anAgent('True'), anAgent('False', { type: 'MultiClusterServiceAgent' })),
    },
    { it: 'when its clock is ahead of ours', status: status(anAgent('True', { stamp: ago(-10 * MINUTE) })) },
  ])('$it', ({ period = 60, status }) => {
    expect(eligibility(aCluster({ status, spec: { heartbeatPeriodSeconds: period } }), NOW)).toEqual({ ok: true });
  });
});

describe('a member may not be picked', () => {
  test.each([
    { it: 'while it leaves', deleted: true, status: status(anAgent('True')), code: 'Left', says: 'has left' },
    { it: 'before its agent came online', status: {}, code: 'AgentNotOnline', says: 'agent not online yet' },
    {
      it: 'when only another agent reports',
      status: status(anAgent('True', { type: 'MultiClusterServiceAgent' })),
      code: 'AgentNotOnline',
      says: 'not online',
    },
    {
      it: 'without a recent heartbeat',
      status: status(anAgent('True', { stamp: ago(6.5 * MINUTE) })),
      code: 'NoRecentHeartbeat',
      says: `none since ${ago(6.5 * MINUTE)}`,
    },
    {
      it: 'with a stamp that is none',
      status: status(anAgent('True', { stamp: 'yesterday' })),
      code: 'NoRecentHeartbeat',
      says: 'none ever',
    },
    {
      it: 'that reports rarely and is late',
      period: 600,
      status: status(anAgent('True', { stamp: ago(31 * MINUTE) })),
      code: 'NoRecentHeartbeat',
      says: `none since ${ago(31 * MINUTE)}`,
    },
    {
      it: 'whose agent has not joined',
      status: status(anAgent('Unknown')),
      code: 'AgentNotJoined',
      says: 'not joined yet',
    },
    {
      it: 'whose agent does not say whether it joined',
      status: status(anAgent(undefined)),
      code: 'AgentNotJoined',
      says: 'not joined yet',
    },
    {
      it: 'that says nothing about its health',
      status: status(without('Healthy')),
      code: 'HealthUnknown',
      says: 'health condition',
    },
    {
      it: 'that has been unhealthy for long',
      status: status(unhealthySince(5.25 * MINUTE)),
      code: 'Unhealthy',
      says: `unhealthy since ${ago(5.25 * MINUTE)}`,
    },
    {
      it: 'whose health has been unknown for long',
      status: status(unhealthySince(6 * MINUTE, 'Unknown')),
      code: 'Unhealthy',
      says: `unhealthy since ${ago(6 * MINUTE)}`,
    },
    // The first rule that fails gives the reason.
    { it: 'that leaves, whatever else is wrong', deleted: true, status: {}, code: 'Left', says: 'left' },
    {
      it: 'that is silent, whether joined or not',
      status: status(anAgent('False', { stamp: ago(6 * MINUTE) })),
      code: 'NoRecentHeartbeat',
      says: `none since ${ago(6 * MINUTE)}`,
    },
  ])('$it', ({ period = 60, status, deleted, code, says }) => {
    const metadata = deleted ? { deletionTimestamp: ago(0) } : {};
    const verdict = eligibility(aCluster({ status, metadata, spec: { heartbeatPeriodSeconds: period } }), NOW);
    expect(verdict).toMatchObject({ ok: false, code });
    expect('reason' in verdict && verdict.reason).toContain(says);
  });
});

test('the timeout is five minutes or three periods, whichever is longer', () => {
  expect([1, 60, 100, 101, 600].map(eligibilityTimeoutMs)).toEqual([300_000, 300_000, 300_000, 303_000, 1_800_000]);
});
