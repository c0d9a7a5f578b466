import { expect, test } from 'vitest';
import { kubeTime } from '../../base/clock.ts';
import { aMember, MINUTE, NOW } from '../scheduler/scheduler.testing.ts';
import { goneFrom } from './leaving-member.ts';

const unreachable = (since: number) => ({
  type: 'Healthy',
  status: 'Unknown' as const,
  reason: 'MemberUnreachable',
  message: '',
  lastTransitionTime: kubeTime(since),
});

test.each([
  { it: 'six periods after the hub saw the newest heartbeat', heardAt: NOW, from: NOW + 6 * MINUTE },
  { it: 'from the beginning if there was never a heartbeat', heartbeat: undefined, heardAt: NOW, from: 0 },
  { it: 'whatever the clock of the member says', heartbeat: NOW - 600 * MINUTE, heardAt: NOW, from: NOW + 6 * MINUTE },
  { it: 'sooner if an earlier hub called it unreachable', since: NOW - MINUTE, heardAt: NOW, from: NOW + 5 * MINUTE },
  { it: 'not later for being called unreachable', since: NOW + MINUTE, heardAt: NOW, from: NOW + 6 * MINUTE },
])('a member that is being deleted is gone $it', ({ heardAt, since, from, ...rest }) => {
  const member = aMember('east', { leaving: true, heartbeat: NOW, ...rest });
  const conditions = since === undefined ? [] : [unreachable(since)];
  expect(goneFrom({ ...member, status: { ...member.status, conditions } }, heardAt)).toBe(from);
});
