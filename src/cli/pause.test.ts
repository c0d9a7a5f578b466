// `pause` and `resume` against the real API server over https, in both scopes. No hub runs.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import type { Placement } from '../api/placement.ts';
import { clusterFamily, families, type PlacementFamily } from '../hub/families.ts';
import { whichPlacement } from '../insight/which-placement.ts';
import { setPaused } from './pause.ts';
import { printing, serving } from './served.testing.ts';
import { getPlacement } from './server/get-placement.ts';

const namespaceOf = (family: PlacementFamily) => (family === clusterFamily ? undefined : 'team');

async function stored(family: PlacementFamily, strategy: object | undefined) {
  const namespace = namespaceOf(family);
  const placement = {
    apiVersion: 'placement.kubernetes-fleet.io/v1',
    kind: family.placement.kind,
    metadata: { name: 'web', ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'x' }],
      ...(strategy === undefined ? {} : { strategy }),
    },
  } as KubeObject;
  const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
  const { server } = await serving([team, placement]);
  const connected = await server();
  const which = whichPlacement('placement/web', namespace);
  const { print, out } = printing();
  return {
    out,
    set: (paused: boolean) => setPaused(connected, which, paused, print),
    strategy: async () => ((await getPlacement(connected, which)) as Placement).spec.strategy,
  };
}

describe.each(families.map((family) => ({ kind: family.placement.kind, family })))('$kind', ({ family }) => {
  test.each([
    ['partitioned', { type: 'Partitioned', partitioned: { maxUnavailable: 1 } }],
    ['rolling', { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } }],
    ['without a strategy', undefined],
  ])('%s: is paused and resumed, and keeps the rest of its strategy', async (_it, strategy) => {
    const it = await stored(family, strategy);
    await it.set(true);
    expect(await it.strategy()).toMatchObject({ ...strategy, paused: true });
    await it.set(true);
    await it.set(false);
    expect(await it.strategy()).not.toHaveProperty('paused');
    await it.set(false);
    const name = `${family.placement.kind.toLowerCase()}.placement.kubernetes-fleet.io/web`;
    expect(it.out).toEqual([`${name} paused`, `${name} is paused already`, `${name} resumed`, `${name} is not paused`]);
  });

  test('with External is refused, and names what to do', async () => {
    const it = await stored(family, { type: 'External' });
    await expect(it.set(true)).rejects.toThrow('stop the run instead');
  });
});
