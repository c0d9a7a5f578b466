import { describe } from 'vitest';
import { describeApplying } from './applying.ts';
import { startFleet } from './delivery.ts';
import { skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeApplying(startFleet, undefined, 'member-1');
});
