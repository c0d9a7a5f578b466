// Real API servers that are away for a minute: the reason is visible, nothing is lost, and it goes on by itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { startApiServer, stopApiServer } from '../../scripts/kube/plane.ts';
import { findPrograms, type Programs } from '../../scripts/kube/programs.ts';
import type { Running } from '../wire/fleet.ts';
import { hubPlane, memberPlanes, skipsPlanes } from './planes.ts';
import type { Provided } from './setup.ts';
import { type ShopFleet, startShopFleet } from './shop-fleet.ts';

const OUTAGE_MS = 60_000;

describe.skipIf(skipsPlanes)('a fleet on real control planes', () => {
  let fleet: ShopFleet;
  beforeAll(async () => {
    fleet = await startShopFleet();
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  test('waits for API servers that are away for a minute, and loses nothing', {
    timeout: patience(400_000),
  }, async () => {
    const programs = findPrograms() as Programs;
    const member = memberPlanes[1] as Provided;
    const agent = fleet.agents.get('two') as Running;
    await stopApiServer(member, 'SIGKILL');
    try {
      await fleet.change();
      await fleet.reaches('one');
      await stopApiServer(hubPlane);
      const outage = sleep(OUTAGE_MS);
      await fleet.hubProcess.says(/no answer to .*connect ECONNREFUSED/);
      await fleet.hubProcess.says(/no longer the leader/);
      await agent.says(/no answer to|watch interrupted/);
      await outage;
    } finally {
      await Promise.all([startApiServer(hubPlane, programs), startApiServer(member, programs)]);
    }
    const began = performance.now();
    const seconds = () => Math.round((performance.now() - began) / 100) / 10;
    await fleet.reaches('two');
    console.log(`the member has what it missed ${seconds()} s after the servers were back`);
    // Kubernetes' own controllers, which make the Pods, let up to a minute pass between two attempts to come back.
    await fleet.arrives();
    console.log(`all is available ${seconds()} s after the servers were back`);
    fleet.allRun();
  });
});
