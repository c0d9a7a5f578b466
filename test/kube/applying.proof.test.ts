// The apply strategies on Kubernetes' own API servers: the same tests, word for word.
import { describe } from 'vitest';
import { describeApplying } from '../wire/applying.ts';
import { startOnPlanes } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

describe.skipIf(skipsPlanes)('on real control planes', () => {
  describeApplying(() => startOnPlanes([{ name: 'member-1', labels: {} }]), undefined, 'member-1');
});
