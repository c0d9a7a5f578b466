// Envelopes on Kubernetes' own API servers, where quotas and webhooks act: the same tests, word for word.
import { describe } from 'vitest';
import { describeEnvelopes } from '../wire/envelopes.ts';
import { startOnPlanes } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

describe.skipIf(skipsPlanes)('on real control planes', () => {
  describeEnvelopes(() => startOnPlanes([{ name: 'member-1', labels: {} }]), 'member-1');
});
