import { describe } from 'vitest';
import { startFleet } from './delivery.ts';
import { describeUndelivered } from './delivery-bad-input.ts';
import { skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeUndelivered(startFleet, { warns: true });
});
