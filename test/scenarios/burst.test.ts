// Many placements at once, on a hub whose reconciles take time: however many changes are pending, the hub reports
// completed placements.
import { expect, test } from 'vitest';
import type { Condition } from '../../src/api/conditions.ts';
import type { Request } from '../../src/api/transport.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { aDelivery, configMap, DONE, rolls, selects } from '../delivery.ts';

const MEMBERS = 6;
const PLACEMENTS = 40;
const RECONCILE_MS = 10;
/** Longer than the bound: a shorter load would prove nothing. */
const BUSY_MS = 10_000;
const BOUND_MS = 5000;

function reportsAvailable(request: Request, plural: string): boolean {
  if (request.verb !== 'patch' || request.at.subresource !== 'status' || request.at.resource.plural !== plural)
    return false;
  const { status } = request.patch.body as { readonly status?: { readonly conditions?: readonly Condition[] } };
  return status?.conditions?.some((each) => each.type.endsWith('Available') && each.status === 'True') ?? false;
}

test('a placement whose clusters are all available says so within 5 seconds, whatever else is under way', async () => {
  await using it = await aDelivery(clusterFamily, { members: MEMBERS });
  const { fleet } = it;
  const { plural } = it.family.placement;
  await it.give(configMap('one'));
  const names = Array.from({ length: PLACEMENTS }, (_, at) => `burst-${String(at).padStart(3, '0')}`);
  for (const name of names) await fleet.hub.create('namespaces', undefined, { metadata: { name } });
  await it.runs();

  /** When each Work of a placement, and each placement, was first reported Available. */
  const works = new Map(names.map((name) => [name, new Map<string, number>()]));
  const placements = new Map<string, number>();
  const note = (times: Map<string, number> | undefined, key: string) => {
    if (times?.has(key) === false) times.set(key, fleet.clock.now());
  };
  fleet.meddle = (who, request) => {
    const { name = '' } = request.at;
    if (reportsAvailable(request, 'works')) note(works.get(name.replace(/-work$/, '')), who);
    if (reportsAvailable(request, plural)) note(placements, name);
    return undefined;
  };
  const began = fleet.clock.now();
  fleet.reconcileMs = RECONCILE_MS;
  for (const name of names) {
    const resourceSelectors = [selects('', 'v1', 'Namespace', { name })];
    const spec = { resourceSelectors, ...rolls({ maxUnavailable: '100%' }) };
    await fleet.hub.create(plural, undefined, { metadata: { name }, spec });
  }
  await it.runs(100_000);

  const lags = new Map<string, number>();
  for (const name of names) {
    expect(await it.said(name), name).toEqual(DONE);
    const times = [...(works.get(name)?.values() ?? [])];
    expect(times, name).toHaveLength(MEMBERS);
    lags.set(name, (placements.get(name) ?? Number.NaN) - Math.max(...times));
  }
  expect(Math.max(...placements.values()) - began).toBeGreaterThan(BUSY_MS);
  expect([...lags].filter(([, ms]) => !(ms <= BOUND_MS))).toEqual([]);
});
