// What is delivered on our own API server is delivered on Kubernetes' own in just the same way: the same scenarios, word for word.
import { describe } from 'vitest';
import { describeExample1, describeExample2 } from '../wire/delivery-001.ts';
import { describeUndelivered } from '../wire/delivery-bad-input.ts';
import { startRealFleet } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

describe.skipIf(skipsPlanes)('on real control planes', () => {
  describeExample1(startRealFleet);
  describeExample2(startRealFleet);
  describeUndelivered(startRealFleet, { warns: false });
});
