// Seed 002 on Kubernetes' own API server, word for word what test/wire runs on ours. Nobody signs approvals there: that takes an admission webhook.
import { describe } from 'vitest';
import { describeClusterScope } from '../wire/staged-002-cluster.ts';
import { describeNamespaceScope } from '../wire/staged-002-namespace.ts';
import { skipsPlanes } from './planes.ts';
import { startOnRealHub } from './staged-fleet.ts';

describe.skipIf(skipsPlanes)('a real hub', () => {
  describeClusterScope(startOnRealHub, { signs: undefined });
  describeNamespaceScope(startOnRealHub, { signs: undefined });
});
