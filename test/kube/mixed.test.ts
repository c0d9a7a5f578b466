// A hub on our own API server with members on real ones: nothing above the client can tell them apart. The other way round, a real hub with members on
// servers of our own, is availability.proof.test.ts.
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fleet, fleetOf } from '../wire/delivery.ts';
import { type Running, start } from '../wire/fleet.ts';
import { type Server, startServer } from '../wire/server.ts';
import { agentArgs } from './fleet.ts';
import { joinMember, writeContexts } from './install.ts';
import { memberPlanes, skipsPlanes } from './planes.ts';
import type { Provided } from './setup.ts';

const example = (name: string) => resolve(import.meta.dirname, '../../examples', name);
const [first, second] = ['member-1', 'member-2'];

describe.skipIf(skipsPlanes)('an embedded hub with real members', () => {
  const parts: Running[] = [];
  let hub: Server | undefined;
  let fleet: Fleet;
  beforeAll(async () => {
    const server = await startServer({ args: ['--in-memory'] });
    hub = server;
    const [one, two] = memberPlanes as [Provided, Provided];
    const members = { [first]: one, [second]: two };
    const accounts = Object.entries(members).map(([name, { token }]) => [`agent-${name}`, { cluster: name, token }]);
    const folder = mkdtempSync(join(server.folder, 'members-'));
    const real = writeContexts(folder, members, Object.fromEntries(accounts));
    // One for the hub and one for the members, as a person has them; kubectl reads both.
    const kubeconfig = `${server.kubeconfig}:${real}`;
    parts.push(start(server.folder, ['hub', '--kubeconfig', server.kubeconfig, '--log-level', 'warn']));
    for (const name of Object.keys(members)) {
      const file = await joinMember(server.folder, server.kubeconfig, name);
      parts.push(start(server.folder, agentArgs(name, file, real)));
    }
    fleet = fleetOf(kubeconfig, async () => {
      await fleet.hub(['delete', 'crp', '--all', '--timeout=60s']);
      await fleet.hub(['delete', 'memberclusters', '--all', '--timeout=60s']);
    });
    const all = Object.keys(members).map((name) => `membercluster/${name}`);
    await fleet.hub(['wait', '--for=condition=Joined', ...all, '--timeout=60s']);
  });
  afterAll(async () => {
    try {
      await fleet?.[Symbol.asyncDispose]();
    } finally {
      for (const part of parts) await part[Symbol.asyncDispose]();
      await hub?.[Symbol.asyncDispose]();
    }
  });

  const images = () =>
    Promise.all(
      [first, second].map((member) =>
        fleet.on(member as string, [
          ...['-n', 'shop', 'get', 'deployment', 'web'],
          ...['-o', 'jsonpath={.spec.template.spec.containers[0].image} {.status.availableReplicas}'],
        ]),
      ),
    );
  const ship = (image: string) => fleet.hub(['-n', 'shop', 'set', 'image', 'deployment/web', `web=${image}`]);

  test('ships, is stopped by the budget, and goes on with a fix', async () => {
    await fleet.hub(['apply', '-f', example('shop.yaml'), '-f', example('placement.yaml')]);
    await fleet.waitForAvailable('crp/shop');
    expect(await images()).toEqual(['web:1 2', 'web:1 2']);
    await ship('web:bad');
    await fleet.hub([
      ...[
        'wait',
        'crp/shop',
        '--timeout=60s',
        '--for=jsonpath={.status.holds[?(@.code=="BudgetUsed")].on.name}=member-1',
      ],
    ]);
    expect(await images()).toEqual([expect.stringContaining('web:bad'), 'web:1 2']);
    await ship('web:2');
    await fleet.hub(['wait', 'crp/shop', '--timeout=60s', '--for=jsonpath={.status.observedResourceIndex}=2']);
    await fleet.waitForAvailable('crp/shop');
    expect(await images()).toEqual(['web:2 2', 'web:2 2']);
  });
});
