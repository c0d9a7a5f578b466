import { describe } from 'vitest';
import { http2 } from './subjects.ts';
import { describeCalls } from './transport.ts';
import { describeWatches } from './watching.ts';

describe('the transport https over HTTP/2', () => {
  describeCalls(http2);
  describeWatches(http2);
});
