// The open requests and watches of an agent under its highest load stay far below the limits per identity, however
// slowly the hub responds; and those of 1,000 agents at the same time stay below the total limits.
import { expect, test } from 'vitest';
import type { User } from '../../src/api/object.ts';
import type { Transport } from '../../src/api/transport.ts';
import { createAccounts } from '../../src/apiserver/http/accounts.ts';
import { defaultLimits } from '../../src/apiserver/http/limits.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { testClock } from '../cluster.ts';
import { aDelivery, configMap, type Delivery, selects } from '../delivery.ts';

const PLACEMENTS = 60;
/** Responses take this many turns of the event loop. A fleet counts as settled after four turns without events. */
const SLOW_TURNS = 3;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function measured(inner: Transport) {
  const open = { requests: 0, watches: 0 };
  const most = { requests: 0, watches: 0 };
  const more = (what: 'requests' | 'watches') => {
    open[what]++;
    most[what] = Math.max(most[what], open[what]);
  };
  let breaking = new AbortController();
  const transport: Transport = {
    async call(request, signal) {
      more('requests');
      try {
        for (let at = 0; at < SLOW_TURNS; at++) await turn();
        return await inner.call(request, signal);
      } finally {
        open.requests--;
      }
    },
    async *watch(request, signal) {
      more('watches');
      try {
        yield* inner.watch(request, AbortSignal.any([signal, breaking.signal]));
      } finally {
        open.watches--;
      }
    },
  };
  return {
    transport,
    most,
    /** All watches end, as when the hub restarts. */
    breakOff() {
      breaking.abort();
      breaking = new AbortController();
    },
    forget() {
      most.requests = 0;
      most.watches = 0;
    },
  };
}

const MEMBERS = 1000;
/** A run of kubectl has a few; this is the number of users and programs of a large fleet. */
const PEOPLE = 300;

/** All agents do the same at the same moment, as after a restart of the hub, while users work. */
function expectRoomFor(each: { readonly requests: number; readonly watches: number }): void {
  expect(each.requests).toBeGreaterThan(1);
  expect(each.requests).toBeLessThanOrEqual(defaultLimits.requestsPerUser / 10);
  expect(each.watches).toBeLessThanOrEqual(defaultLimits.watchesPerUser / 10);
  // Each watch and each request has its own connection.
  expect((each.requests + each.watches) * MEMBERS).toBeLessThanOrEqual(defaultLimits.connections / 2);
  const accounts = createAccounts({ limits: defaultLimits, clock: testClock() });
  const user = (name: string): User => ({ name, groups: ['system:authenticated'] });
  const open = (name: string, requests: number, watches: number) => {
    for (let at = 0; at < watches; at++) {
      const account = accounts.enter(user(name));
      account.openWatch();
      account.leave();
    }
    for (let at = 0; at < requests; at++) accounts.enter(user(name));
  };
  for (let at = 0; at < MEMBERS; at++) open(`member-${at}`, each.requests, each.watches);
  for (let at = 0; at < PEOPLE; at++) open(`person-${at}`, 3, 3);
  expect([...accounts.refused.values()].every((count) => count === 0)).toBe(true);
}

async function withPlacements(it: Delivery): Promise<readonly string[]> {
  const { fleet } = it;
  await it.give(configMap('one'));
  const names = Array.from({ length: PLACEMENTS }, (_, at) => `more-${at}`);
  for (const name of names) {
    await fleet.hub.create('namespaces', undefined, { metadata: { name } });
    await it.place({ resourceSelectors: [selects('', 'v1', 'Namespace', { name })] }, name);
  }
  await it.runs();
  return names;
}

const start = (it: Delivery) => {
  let load: ReturnType<typeof measured> | undefined;
  it.fleet.startAgent('c1', {
    between(hub) {
      load = measured(hub);
      return load.transport;
    },
  });
  return load as ReturnType<typeof measured> | undefined;
};

test(`an agent that finds ${PLACEMENTS} new placements at a hub that answers slowly`, async () => {
  await using it = await aDelivery(clusterFamily, { members: 1 });
  await it.fleet.stopAgent('c1');
  const names = await withPlacements(it);
  const load = start(it);
  await it.runs(60_000);
  for (const name of names) expect(await it.find('c1', 'namespaces', name), name).toBeDefined();
  const { requests = 0, watches = 0 } = load?.most ?? {};
  expect(watches).toBeGreaterThan(1);
  expectRoomFor({ requests, watches });
});

test(`an agent that reports on ${PLACEMENTS} placements when the hub is back`, async () => {
  await using it = await aDelivery(clusterFamily, { members: 1 });
  const { fleet } = it;
  await fleet.stopAgent('c1');
  const names = await withPlacements(it);
  const load = start(it);
  await it.runs(60_000);
  fleet.cut('c1', true);
  load?.breakOff();
  // Every placement changes on the hub, and every placed object on the member, while the two are disconnected.
  for (const name of names) {
    await fleet.patch('namespaces', undefined, name, { metadata: { labels: { changed: 'yes' } } });
    await it.patchOn('c1', 'namespaces', name, { metadata: { labels: { drifted: 'yes' } } });
  }
  await it.runs(10 * 60_000);
  load?.forget();
  fleet.cut('c1', false);
  await it.runs(60_000);
  for (const name of names) {
    const { labels } = (await it.find('c1', 'namespaces', name))?.metadata ?? {};
    expect(labels, name).toMatchObject({ changed: 'yes' });
  }
  const { requests = 0, watches = 0 } = load?.most ?? {};
  expectRoomFor({ requests, watches });
});
