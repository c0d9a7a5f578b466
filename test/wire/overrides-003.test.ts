// The overrides of seed 003 with kubectl on `flotilla up`. The same on real control planes: test/kube/overrides.proof.test.ts.
import { describe } from 'vitest';
import { startFleet } from './delivery.ts';
import { describeOverrides } from './overrides-003.ts';
import { skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeOverrides(startFleet);
});
