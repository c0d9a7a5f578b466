// What an agent has open at the hub when it has most to do stays far below what one identity may have, however slowly the hub answers.
import { expect, test } from 'vitest';
import type { Transport } from '../../src/api/transport.ts';
import { defaultLimits } from '../../src/apiserver/http/limits.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { aDelivery, configMap, selects } from '../delivery.ts';

const PLACEMENTS = 60;
/** Answers take so many turns of the event loop. A fleet counts as settled after four without anything new. */
const SLOW_TURNS = 3;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function measured(inner: Transport) {
  const open = { requests: 0, watches: 0 };
  const most = { requests: 0, watches: 0 };
  const more = (what: 'requests' | 'watches') => {
    open[what]++;
    most[what] = Math.max(most[what], open[what]);
  };
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
        yield* inner.watch(request, signal);
      } finally {
        open.watches--;
      }
    },
  };
  return { transport, most };
}

test(`an agent that finds ${PLACEMENTS} new placements at a hub that answers slowly`, async () => {
  await using it = await aDelivery(clusterFamily, { members: 1 });
  const { fleet } = it;
  await it.give(configMap('one'));
  await it.runs();
  await fleet.stopAgent('c1');
  const names = Array.from({ length: PLACEMENTS }, (_, at) => `more-${at}`);
  for (const name of names) {
    await fleet.hub.create('namespaces', undefined, { metadata: { name } });
    await it.place({ resourceSelectors: [selects('', 'v1', 'Namespace', { name })] }, name);
  }
  await it.runs();

  let load: ReturnType<typeof measured> | undefined;
  fleet.startAgent('c1', {
    between(hub) {
      load = measured(hub);
      return load.transport;
    },
  });
  await it.runs(60_000);
  for (const name of names) expect(await it.find('c1', 'namespaces', name), name).toBeDefined();

  const { requests = 0, watches = 0 } = load?.most ?? {};
  expect(requests).toBeGreaterThan(1);
  expect(requests).toBeLessThanOrEqual(defaultLimits.requestsPerUser / 10);
  expect(watches).toBeGreaterThan(1);
  expect(watches).toBeLessThanOrEqual(defaultLimits.watchesPerUser / 10);
  // A watch and a connection stay open as long as the agent runs, so those of all members count together.
  const members = 1000;
  expect(watches * members).toBeLessThanOrEqual(defaultLimits.watches / 2);
  expect(requests * members).toBeLessThanOrEqual(defaultLimits.connections);
});
