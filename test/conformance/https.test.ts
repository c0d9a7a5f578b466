import { describe } from 'vitest';
import { http1 } from './subjects.ts';
import { describeCalls } from './transport.ts';
import { describeWatches } from './watching.ts';

describe('the transport https', () => {
  describeCalls(http1);
  describeWatches(http1);
});
