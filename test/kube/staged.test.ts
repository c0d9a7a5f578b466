// Seed 002 on Kubernetes' own API server, word for word what test/wire runs on ours. Nobody signs approvals there: that takes an
// admission webhook. The part within namespaces is staged-namespaced.proof.test.ts.
import { describe } from 'vitest';
import { describeClusterScope } from '../wire/staged-002-cluster.ts';
import { skipsPlanes } from './planes.ts';
import { startOnRealHub } from './staged-fleet.ts';

describe.skipIf(skipsPlanes)('a real hub', () => {
  describeClusterScope(startOnRealHub, { signs: undefined });
});
