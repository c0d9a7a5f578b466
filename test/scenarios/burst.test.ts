// Many placements at once, on a hub whose reconciles take time: the changes must not keep the hub from reporting what is done.
import { expect, test } from 'vitest';
import type { Request } from '../../src/api/transport.ts';
import { clusterFamily } from '../../src/hub/families.ts';
import { aDelivery, configMap, DONE, rolls, selects } from '../delivery.ts';

const MEMBERS = 6;
const PLACEMENTS = 40;
const RECONCILE_MS = 20;

interface Condition {
  readonly type: string;
  readonly status: string;
}

const reportsAvailable = (request: Request, plural: string): request is Request & { verb: 'patch' } => {
  if (request.verb !== 'patch' || request.at.resource.plural !== plural || request.at.subresource !== 'status')
    return false;
  const { status } = request.patch.body as { readonly status?: { readonly conditions?: readonly Condition[] } };
  return status?.conditions?.some((each) => each.type.endsWith('Available') && each.status === 'True') ?? false;
};

test('a placement whose clusters are all available says so within 5 seconds, whatever else is under way', async () => {
  await using it = await aDelivery(clusterFamily, { members: MEMBERS });
  const { fleet } = it;
  await it.give(configMap('one'));
  const names = Array.from({ length: PLACEMENTS }, (_, at) => `burst-${String(at).padStart(3, '0')}`);
  for (const name of names) await fleet.hub.create('namespaces', undefined, { metadata: { name } });
  await it.runs();

  /** By Work, and by placement: when each was first reported Available. */
  const works = new Map<string, number>();
  const placements = new Map<string, number>();
  const bindings = new Map<string, number>();
  fleet.meddle = (who, request) => {
    const note = (times: Map<string, number>, key: string) => {
      if (!times.has(key)) times.set(key, fleet.clock.now());
    };
    if (reportsAvailable(request, 'works')) note(works, `${request.at.name}/${who}`);
    if (reportsAvailable(request, it.family.binding.plural)) note(bindings, request.at.name ?? '');
    if (reportsAvailable(request, it.family.placement.plural)) note(placements, request.at.name ?? '');
    return undefined;
  };
  fleet.reconcileMs = RECONCILE_MS;
  fleet.passes.clear();
  const began = fleet.clock.now();
  for (const name of names) {
    await fleet.hub.create(it.family.placement.plural, undefined, {
      metadata: { name },
      spec: {
        resourceSelectors: [selects('', 'v1', 'Namespace', { name })],
        ...rolls({ maxUnavailable: '100%' }),
      },
    });
  }
  await it.runs(200_000);
  for (const name of names) expect(await it.said(name), name).toEqual(DONE);

  const lags = names.map((name) => {
    const of = [...works].filter(([key]) => key.startsWith(`${name}-work/`)).map(([, at]) => at);
    expect(of, name).toHaveLength(MEMBERS);
    const b = Math.max(...[...bindings].filter(([key]) => key.startsWith(`${name}-`)).map(([, at]) => at));
    return {
      name,
      b: b - Math.max(...of),
      last: Math.max(...of) - began,
      lag: (placements.get(name) ?? Number.NaN) - Math.max(...of),
    };
  });
  const hubPasses = [...fleet.passes].filter(([k]) => k.startsWith('hub')).reduce((s, [, n]) => s + n, 0);
  const by: Record<string, number> = {};
  for (const [k, n] of fleet.passes)
    if (k.startsWith('hub')) by[k.split(' ')[1] as string] = (by[k.split(' ')[1] as string] ?? 0) + n;
  console.log(hubPasses, by, lags.map(({ last, lag, b }) => `${last}+${b}+${lag - b}`).join(' '));
  expect(Math.max(...lags.map(({ lag }) => lag))).toBeLessThanOrEqual(5000);
});
