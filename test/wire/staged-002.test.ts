// Seed 002 on `flotilla up`. What it says of whole clusters is told with the fleet that ships for it; the usual one will do to begin. Namespaces: the
// walk through docs/seeds.md, and staged-002-namespaced.proof.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_USER } from '../../src/apiserver/auth/pki.ts';
import { type Fleet, startFleet } from './delivery.ts';
import { namespace } from './delivery-kinds.ts';
import { skipsKubectl } from './server.ts';
import { onlyPrinted, type Run, seed, shellOf, withShortWaits } from './staged-002.ts';
import { describeClusterScope } from './staged-002-cluster.ts';

describe.skipIf(skipsKubectl)('flotilla up', () => {
  describeClusterScope(startFleet, { signs: ADMIN_USER });

  describe('seed 002, without a fleet of its own', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await startFleet();
    });
    afterAll(() => fleet?.[Symbol.asyncDispose]());

    test('the usual members have the labels that it selects and sorts by', async () => {
      await fleet.apply(namespace('test-namespace'));
      await fleet.hub(['apply', '-f', '-'], withShortWaits('v2-0.yaml'));
      await fleet.hub(['apply', '-f', seed('v2-2.yaml'), '-f', seed('v2-6.yaml')]);
      await fleet.hub(['wait', 'careq/example-run-before-canary', '--for=create', '--timeout=55s']);
      expect(await shellOf(fleet)(onlyPrinted('V2-8'))).toMatchObject({ code: 0 });
      await fleet.hub(['wait', 'careq/example-run-after-canary', '--for=create', '--timeout=55s']);

      const { status } = await fleet.get<Run>('hub', ['csur', 'example-run']);
      expect(
        status?.stagesStatus?.map(({ stageName, clusters }) => [stageName, clusters.map((each) => each.clusterName)]),
      ).toEqual([
        ['staging', ['member-1']],
        ['canary', ['member-2']],
        ['production', ['member-3']],
      ]);
    });
  });
});
