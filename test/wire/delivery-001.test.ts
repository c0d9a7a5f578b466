import { describe } from 'vitest';
import { startFleet } from './delivery.ts';
import { describeExample1, describeExample2 } from './delivery-001.ts';
import { skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeExample1(startFleet);
  describeExample2(startFleet);
});
