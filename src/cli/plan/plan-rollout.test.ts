// `flotilla plan placement/NAME` against the real API server over https, in both scopes. No hub runs, and nothing is
// written.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { clusterFamily, families, type PlacementFamily } from '../../hub/families.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { overheard, printing, serving } from '../served.testing.ts';
import { type PlanRolloutOptions, planRollout } from './plan-rollout.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const clock: Clock = { now: () => NOW, at: () => () => {} };

const member = (name: string): KubeObject => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name },
  spec: { identity: { kind: 'User', name } },
  status: {
    conditions: ['Joined', 'Healthy'].map((type) => ({
      type,
      status: 'True',
      reason: 'Fine',
      message: '',
      lastTransitionTime: '2026-01-01T11:59:50Z',
      observedGeneration: 1,
    })),
    agentStatus: [
      {
        type: 'MemberAgent',
        lastReceivedHeartbeat: '2026-01-01T11:59:55Z',
        conditions: ['Joined', 'Healthy'].map((type) => ({
          type,
          status: 'True',
          reason: 'Fine',
          message: '',
          lastTransitionTime: '2026-01-01T11:59:50Z',
        })),
      },
    ],
  },
});
const deployment = (image: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});

async function planned(family: PlacementFamily, strategy: object, options: Partial<PlanRolloutOptions> = {}) {
  const isWide = family === clusterFamily;
  const placement: KubeObject = {
    apiVersion: 'placement.kubernetes-fleet.io/v1',
    kind: family.placement.kind,
    metadata: { name: 'web', ...(isWide ? {} : { namespace: 'shop' }) },
    spec: {
      resourceSelectors: [
        isWide
          ? { group: '', version: 'v1', kind: 'Namespace', name: 'shop' }
          : { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' },
      ],
      strategy,
    },
  };
  const shop: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const { server } = await serving([shop, deployment('web:1'), placement, ...['m1', 'm2', 'm3'].map(member)]);
  const asked: string[] = [];
  const connected = overheard(await server(), ({ verb, ...rest }) => {
    if (!['get', 'list'].includes(verb)) asked.push(`${verb} ${'dryRun' in rest ? 'dry' : 'wet'}`);
  });
  const { print, text } = printing();
  const which = whichPlacement('placement/web', isWide ? undefined : 'shop');
  const all = { clock, images: [], manifests: [], full: false, durationMs: 30_000, ...options };
  const code = await planRollout(connected, which, all, print);
  expect(asked.filter((each) => !each.endsWith('dry'))).toEqual([]);
  return { code, text: text() };
}

describe.each(families.map((family) => ({ kind: family.placement.kind, family })))('$kind', ({ family }) => {
  test('a first rollout is told with partitions and waves', async () => {
    const { code, text } = await planned(family, { type: 'Partitioned', partitioned: { maxUnavailable: 1 } });
    expect(code).toBe(0);
    expect(text).toContain('Partitioned: revision 0 (new) reaches 3 clusters in 1 wave; complete after 30s');
    expect(text).toMatch(/All +3 +1/);
    expect(text).toContain('3 clusters with nothing yet');
  });

  test('--image and -f change what is shipped', async () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    const other = await planned(family, strategy, { images: ['nope=web:2'], full: true });
    expect(other.text).toContain('--image nope=web:2 changes nothing');
    const given = { object: deployment('web:3'), source: 'f.yaml' };
    const replaced = await planned(family, strategy, { manifests: [given], full: true });
    expect(replaced.text).toContain('Deployment "shop/web" added');
    expect(replaced.text).not.toContain('left out');
  });

  test('paused: it would wait, and says why', async () => {
    const { code, text } = await planned(family, { type: 'Partitioned', paused: true });
    expect(code).toBe(2);
    expect(text).toContain('is paused');
  });

  test('External is refused', async () => {
    await expect(planned(family, { type: 'External' })).rejects.toThrow('flotilla plan run');
  });
});
