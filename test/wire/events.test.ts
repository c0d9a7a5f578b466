// Events as people look for them: by the name that kubectl gives an object, and with the cause of what does not work.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { type Fleet, startFleet } from './delivery.ts';
import { skipsKubectl, startServer } from './server.ts';

const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const web = (image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } },
  },
});
const placement = {
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'shop' },
  spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }] },
};

interface Event {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly count?: number;
}

describe.skipIf(skipsKubectl)('Events on a placement', () => {
  let fleet: Fleet;
  const events = async () => (await fleet.get<{ items: readonly Event[] }>('hub', ['events'])).items;

  beforeAll(async () => {
    fleet = await startFleet();
    await fleet.apply(shop, web('web:1'), placement);
    await fleet.waitForAvailable('crp/shop');
  }, patience(120_000));
  afterAll(async () => fleet?.[Symbol.asyncDispose]());

  test('are found by `kubectl events --for`', async () => {
    await fleet.hub([
      'wait',
      '--for=create',
      'events',
      '--field-selector',
      'reason=PlacementRolloutCompleted',
      '--timeout=60s',
    ]);
    expect(await fleet.hub(['events', '--for', 'crp/shop'])).toContain('PlacementRolloutCompleted');
    expect(await fleet.hub(['events', '--for', 'membercluster/member-1'])).toContain('MemberClusterJoined');
  });

  test('name the cause of a workload that cannot start, once for a revision', async () => {
    await fleet.apply(web('web:bad'));
    await fleet.waitForStatus(
      ['crp', 'shop'],
      ({ placementStatuses = [] }) =>
        placementStatuses.some(({ failedPlacements = [] }) =>
          failedPlacements.some((each) => (each as { cause?: { code: string } }).cause?.code === 'ImagePullBackOff'),
        ),
      'names the cause',
    );
    await fleet.hub([
      'wait',
      '--for=create',
      'events',
      '--field-selector',
      'reason=PlacementWorkloadCannotStart',
      '--timeout=60s',
    ]);
    const told = (await events()).filter(({ reason }) => reason === 'PlacementWorkloadCannotStart');
    expect(told).toMatchObject([
      {
        type: 'Warning',
        count: 1,
        message: expect.stringMatching(
          /^cluster "member-\d": Deployment "shop\/web" of revision 1 cannot start: ImagePullBackOff/,
        ),
      },
    ]);
  });

  test('name no object ""', async () => {
    const inner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large', namespace: 'shop' } };
    const envelope = {
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: 'ResourceEnvelope',
      metadata: { name: 'wrap', namespace: 'shop' },
      data: { 'large.yaml': { ...inner, data: { big: 'a'.repeat(1_520_000) } } },
    };
    await fleet.hub(['create', '-f', '-'], JSON.stringify(envelope));
    await fleet.hub([
      'wait',
      '--for=jsonpath={.status.holds[?(@.code=="SnapshotTooLarge")].code}=SnapshotTooLarge',
      'crp/shop',
      '--timeout=60s',
    ]);
    await fleet.hub([
      'wait',
      '--for=create',
      'events',
      '--field-selector',
      'reason=PlacementRolloutHeld',
      '--timeout=60s',
    ]);
    const messages = (await events()).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining('ClusterResourcePlacement "shop" selects'));
    expect(messages.filter((message) => message.includes('""'))).toEqual([]);
  });
});

test.skipIf(skipsKubectl)('--event-ttl ends the Events of a server, and of no other', async () => {
  await using short = await startServer({ args: ['--in-memory', '--event-ttl', '1s'] });
  await using usual = await startServer({ args: ['--in-memory'] });
  const event = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'seen', namespace: 'default' },
    involvedObject: { kind: 'Namespace', name: 'default', namespace: 'default' },
    reason: 'Seen',
  });
  for (const server of [short, usual]) await server.ok(['create', '-f', '-'], event);
  const left = (server: typeof short) => server.ok(['get', 'events', '-n', 'default', '-o', 'name']);
  await expect.poll(() => left(short), { timeout: patience(60_000), interval: 500 }).not.toContain('event/seen');
  expect(await left(usual)).toContain('event/seen');
});
