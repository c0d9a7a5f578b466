// What seed 002 says of namespaces on `flotilla up`, beyond what the walk through docs/seeds.md shows in the gate.
import { describe } from 'vitest';
import { ADMIN_USER } from '../../src/apiserver/auth/pki.ts';
import { startFleet } from './delivery.ts';
import { skipsKubectl } from './server.ts';
import { describeNamespaceScope } from './staged-002-namespace.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeNamespaceScope(startFleet, { signs: ADMIN_USER });
});
