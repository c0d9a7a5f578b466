// Seed 002 within namespaces on Kubernetes' own API server, word for word what test/wire runs on ours. Nobody signs approvals there: that takes an admission webhook.
import { describe } from 'vitest';
import { describeNamespaceScope } from '../wire/staged-002-namespace.ts';
import { skipsPlanes } from './planes.ts';
import { startOnRealHub } from './staged-fleet.ts';

describe.skipIf(skipsPlanes)('a real hub', () => {
  describeNamespaceScope(startOnRealHub, { signs: undefined });
});
