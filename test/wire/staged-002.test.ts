import { describe } from 'vitest';
import { ADMIN_USER } from '../../src/apiserver/auth/pki.ts';
import { startFleet } from './delivery.ts';
import { skipsKubectl } from './server.ts';
import { describeClusterScope } from './staged-002-cluster.ts';
import { describeNamespaceScope } from './staged-002-namespace.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeClusterScope(startFleet, { signs: ADMIN_USER });
  describeNamespaceScope(startFleet, { signs: ADMIN_USER });
});
