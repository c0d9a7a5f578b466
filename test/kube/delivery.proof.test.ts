// What is delivered on our own API server is delivered on Kubernetes' own in just the same way: the same scenarios, word for word.
import { afterAll, describe } from 'vitest';
import { shippedFleet } from '../../src/main/fleet.ts';
import type { StartFleet } from '../wire/delivery.ts';
import { describeExample1, describeExample2 } from '../wire/delivery-001.ts';
import { describeUndelivered } from '../wire/delivery-bad-input.ts';
import { type RealFleet, startOnPlanes, startRealFleet } from './fleet.ts';
import { skipsPlanes } from './planes.ts';

describe.skipIf(skipsPlanes)('on real control planes', () => {
  describe('four members', () => {
    let running: Promise<RealFleet> | undefined;
    afterAll(async () => (await running)?.[Symbol.asyncDispose]());

    /** Both examples have clusters of the same names, so these have the labels of both, and the second finds none of what the first placed. */
    const start: StartFleet = async () => {
      const [prod = [], loc = []] = ['seed-001-prod', 'seed-001-loc'].map(shippedFleet);
      running ??= startOnPlanes(
        prod.map(({ name, labels }, index) => ({ name, labels: { ...labels, ...loc[index]?.labels } })),
      );
      const fleet = await running;
      return {
        ...fleet,
        async [Symbol.asyncDispose]() {
          await fleet.hub(['delete', 'crp', '--all', '--timeout=60s']);
          await fleet.hub(['delete', 'namespace', 'test-ns', '--timeout=60s']);
        },
      };
    };
    describeExample1(start);
    describeExample2(start);
  });
  describeUndelivered(startRealFleet, { warns: false });
});
