import { describe } from 'vitest';
import { startFleet } from './delivery.ts';
import { describeEnvelopes } from './envelopes.ts';
import { skipsKubectl } from './server.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeEnvelopes(startFleet, 'member-1');
});
