// A hub and two members on real control planes with one placement on both, for tests of trouble.
import { expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { deployment, namespace, placementOf } from '../wire/delivery-kinds.ts';
import { type RealFleet, startOnPlanes } from './fleet.ts';

export interface ShopFleet extends RealFleet {
  /** Gives the placed Deployment the next image. */
  change(): Promise<void>;
  /** Until a member has the image. */
  reaches(member: string): Promise<unknown>;
  /** Until both members have it, and the placement is available with it. */
  arrives(): Promise<void>;
  /** No process has ended. */
  allRun(): void;
}

/** Without a policy: on all clusters. */
export function placementOnAll(name: string, objects: Parameters<typeof placementOf>[2]): KubeObject {
  const { spec, ...rest } = placementOf(name, 'one', objects);
  const { policy: _policy, ...others } = spec as { readonly policy: unknown };
  return { ...rest, spec: others } as KubeObject;
}

export async function startShopFleet(): Promise<ShopFleet> {
  const fleet = await startOnPlanes([
    { name: 'one', labels: {} },
    { name: 'two', labels: {} },
  ]);
  const shop = [namespace('shop'), deployment('web', 'shop', 1)];
  let image = 1;
  const reaches = (member: string) => {
    const has = `--for=jsonpath={.spec.template.spec.containers[0].image}=web:${image}`;
    return fleet.on(member, ['-n', 'shop', 'wait', has, 'deployment/web', '--timeout=60s']);
  };
  try {
    await fleet.apply(...shop, placementOnAll('shop', shop));
    await fleet.waitForAvailable('crp/shop');
  } catch (error) {
    await fleet[Symbol.asyncDispose]();
    throw error;
  }
  return Object.assign(fleet, {
    async change() {
      image += 1;
      await fleet.hub(['-n', 'shop', 'set', 'image', 'deployment/web', `web=web:${image}`]);
    },
    reaches,
    async arrives() {
      for (const member of ['one', 'two']) await reaches(member);
      const index = `--for=jsonpath={.status.observedResourceIndex}=${image - 1}`;
      await fleet.hub(['wait', 'crp/shop', '--timeout=60s', index]);
      await fleet.waitForAvailable('crp/shop');
    },
    allRun() {
      const codes = [fleet.hubProcess, ...fleet.agents.values()].map(({ process }) => process.exitCode);
      expect(codes).toEqual([null, null, null]);
    },
  });
}
