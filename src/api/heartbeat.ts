// How often an agent reports. The hub copies the value from the MemberCluster to the InternalMemberCluster.
import { s } from './build.ts';

export const heartbeatPeriodSeconds = s.defaulted(
  s.integer({ doc: 'Seconds between two reports of the agent.', format: 'int32', minimum: 1, maximum: 600 }),
  60,
);
