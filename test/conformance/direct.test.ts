import { describe } from 'vitest';
import { direct } from './subjects.ts';
import { describeCalls } from './transport.ts';
import { describeWatches } from './watching.ts';

describe('the transport in process', () => {
  describeCalls(direct);
  describeWatches(direct);
});
