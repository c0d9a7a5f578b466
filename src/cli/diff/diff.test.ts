// `flotilla diff` if a cluster cannot be read, and between revisions, on the real API server over https. No hub runs.
import { describe, expect, test } from 'vitest';
import { annotations, labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ClusterPlacementState } from '../../api/placement-state.ts';
import type { Transport } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import { clusterFamily, families, type PlacementFamily } from '../../hub/families.ts';
import { aBinding, aPlacement, cluster } from '../../insight/placement.testing.ts';
import { aSnapshot } from '../../insight/staged-run.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { printing, serving } from '../served.testing.ts';
import { type DiffOptions, diff } from './diff.ts';

const namespaced = (name: string): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }) as KubeObject;
const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app', namespace: 'shop' } };

// ---- reports of the agents

const OBSERVED = '2026-01-01T11:55:00Z';
const FIRST = '2026-01-01T11:00:00Z';
const app = { version: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'app' };
const STATES: readonly ClusterPlacementState[] = [
  cluster('c1', 'TTTTF', {
    driftedPlacements: [
      {
        ...app,
        observationTime: OBSERVED,
        firstDriftedObservedTime: FIRST,
        targetClusterObservedGeneration: 0,
        observedDrifts: [
          { path: '/data/value', valueInHub: 'one', valueInMember: 'edited' },
          { path: '/data/more', valueInMember: 'x' },
        ],
      },
    ],
  }),
  cluster('c2', 'TTTTF', {
    diffedPlacements: [
      {
        ...{ group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
        observationTime: OBSERVED,
        firstDiffedObservedTime: FIRST,
        observedDiffs: [{ path: '/', valueInHub: '(the whole object)' }],
      },
    ],
  }),
  cluster('c3', 'TTTTTT'),
];

interface Given {
  readonly family?: PlacementFamily;
  readonly at?: DiffOptions['members']['at'];
  /** Clusters whose Works cannot be read. */
  readonly without?: readonly string[];
  readonly options?: Partial<DiffOptions>;
}

async function shown({ family = clusterFamily, at, without = [], options = {} }: Given) {
  const namespace = family === clusterFamily ? undefined : 'shop';
  const within = namespace === undefined ? {} : { namespace };
  const work = (target: string): KubeObject => ({
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'Work',
    metadata: {
      name: 'web-work',
      namespace: `fleet-member-${target}`,
      labels: {
        [labels.parentBinding]: `web-${target}-1`,
        [labels.parentPlacement]: 'web',
        ...(namespace === undefined ? {} : { [labels.parentPlacementNamespace]: namespace }),
      },
    },
    spec: { workload: { manifests: [manifest] } },
  });
  const names = STATES.flatMap(({ clusterName }) => clusterName ?? []);
  const { server } = await serving([
    namespaced('shop'),
    aPlacement({ metadata: { ...within }, clusters: STATES }) as unknown as KubeObject,
    ...names.map((name) => aBinding(name, 'TTTT', within) as unknown as KubeObject),
    ...names.map((name) => namespaced(`fleet-member-${name}`)),
    ...names.filter((name) => !without.includes(name)).map(work),
  ]);
  const { print, out } = printing();
  const asked: string[] = [];
  const members: DiffOptions['members'] = {
    at(name) {
      asked.push(name);
      return at?.(name) ?? 'the kubeconfig has no context of that name';
    },
  };
  const sides: DiffOptions['sides'] = () => {
    throw new Error('nothing can be read on a member');
  };
  const which = whichPlacement('placement/web', namespace);
  const code = await diff(await server(), which, { members, sides, revisions: [], ...options }, print);
  return { code, out, asked };
}

describe('flotilla diff without a way to the members', () => {
  test.each(families)('shows the lists in the status of a $placement.kind, and says so', async (family) => {
    const { code, out } = await shown({ family });
    const why = "from the placement's status, as the agent reported it (the kubeconfig has no context of that name)";
    expect(out).toEqual([
      `cluster c1 (web-1-snapshot): 1 different; ${why}`,
      `--- ConfigMap "shop/app" (v1, observed ${OBSERVED})`,
      '  /data/value',
      '-   edited',
      '+   one',
      '  /data/more',
      '-   x',
      `cluster c2 (web-1-snapshot): 1 different; ${why}`,
      `--- Deployment "shop/web" (apps/v1, observed ${OBSERVED})`,
      '  /',
      '+   (the whole object)',
      `cluster c3 (web-1-snapshot): no differences; ${why}`,
    ]);
    expect(code).toBe(2);
  });

  test('ends with 0 for a cluster without differences', async () => {
    const { code, out } = await shown({ options: { cluster: 'c3' } });
    expect(out).toHaveLength(1);
    expect(code).toBe(0);
  });

  test('does not ask a member whose Works cannot be seen', async () => {
    const { code, out, asked } = await shown({ without: ['c1'], options: { cluster: 'c1' } });
    expect(out[0]).toBe(
      "cluster c1 (web-1-snapshot): 1 different; from the placement's status, as the agent reported it (its Works cannot be read)",
    );
    expect(asked).toEqual([]);
    expect(code).toBe(2);
  });

  test('names the answer of a member that refuses', async () => {
    const refusing: Transport = {
      call: () => Promise.reject(new ApiError(403, 'Forbidden', 'configmaps is forbidden')),
      watch: () => {
        throw new Error('nothing is watched');
      },
    };
    const { out } = await shown({ at: () => refusing, options: { cluster: 'c1' } });
    expect(out[0]).toContain('as the agent reported it (configmaps is forbidden)');
    expect(out).toContain('-   edited');
  });

  test('has the same facts for programs', async () => {
    const { code, out } = await shown({ options: { output: 'json' } });
    expect(JSON.parse(out.join('\n'))).toMatchObject([
      {
        ...{ cluster: 'c1', snapshot: 'web-1-snapshot', from: 'status' },
        because: 'the kubeconfig has no context of that name',
        differences: [{ object: 'ConfigMap "shop/app"', change: 'changed' }],
      },
      { cluster: 'c2', from: 'status', differences: [{ object: 'Deployment "shop/web"', change: 'added' }] },
      { cluster: 'c3', from: 'status', differences: [] },
    ]);
    expect(code).toBe(2);
  });
});

// ---- between revisions

const secret = (data: Readonly<Record<string, string>>, name = 'keys', more: object = {}) =>
  ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' }, data, ...more }) as unknown as KubeObject;
const wrap = (...secrets: readonly KubeObject[]): KubeObject =>
  ({
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'ResourceEnvelope',
    metadata: { name: 'wrap', namespace: 'shop' },
    data: Object.fromEntries(secrets.map((each, at) => [`${at}.yaml`, each])),
  }) as unknown as KubeObject;
const inConfigMap = (inner: KubeObject): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'texts', namespace: 'shop', annotations: { [annotations.envelopeConfigMap]: 'true' } },
    data: { 'inner.yaml': JSON.stringify(inner) },
  }) as unknown as KubeObject;

async function between(before: readonly KubeObject[], after: readonly KubeObject[], output?: string) {
  const { server } = await serving([
    aPlacement() as unknown as KubeObject,
    aSnapshot(0, before, false),
    aSnapshot(1, after),
  ]);
  const { print, text } = printing();
  const options: DiffOptions = {
    members: { at: () => 'nothing is read there' },
    sides: () => ({ hub: {}, member: undefined }),
    revisions: ['0', '1'],
    ...(output === undefined ? {} : { output }),
  };
  const code = await diff(await server(), whichPlacement('placement/web'), options, print);
  return { code, text: text() };
}

describe('flotilla diff between revisions', () => {
  test.each([undefined, 'json'])('masks Secrets, and shows which values changed (output %s)', async (output) => {
    const { code, text } = await between(
      [secret({ same: 'dmFsdWU=', other: 'dmFsdWUw', old: 'dmFsdWUx' }), secret({ key: 'dmFsdWUy' }, 'removed')],
      [secret({ same: 'dmFsdWU=', other: 'dmFsdWUz', fresh: 'dmFsdWU0' }), secret({ key: 'dmFsdWU1' }, 'added')],
      output,
    );
    expect(text).not.toContain('dmFsdW');
    const lines = text.replaceAll('\\"', '"');
    for (const shown of ['same: "***"', 'other: "*** (before)"', 'other: "*** (after)"', 'old: "***"', 'fresh: "***"'])
      expect(lines).toContain(shown);
    for (const object of ['Secret "shop/removed" (revision 0)', 'Secret "shop/added" (revision 1)'])
      expect(lines).toContain(object);
    expect(code).toBe(2);
  });

  test('masks stringData', async () => {
    const { text } = await between(
      [secret({}, 'keys', { stringData: { key: 'hidden-1' } })],
      [secret({}, 'keys', { stringData: { key: 'hidden-2' } })],
    );
    expect(text).toContain('*** (after)');
    expect(text).not.toContain('hidden');
  });

  test.each([
    { it: 'a ResourceEnvelope', around: wrap },
    { it: 'a ConfigMap that is an envelope', around: inConfigMap },
  ])('masks a Secret in $it', async ({ around }) => {
    const { code, text } = await between(
      [around(secret({ same: 'dmFsdWU=', key: 'dmFsdWUw' }))],
      [around(secret({ same: 'dmFsdWU=', key: 'dmFsdWUx' }))],
    );
    expect(text).toContain('*** (before)');
    expect(text).toContain('*** (after)');
    expect(text).not.toContain('dmFsdW');
    expect(code).toBe(2);
  });

  test('ends with 0 if a Secret did not change', async () => {
    const { code, text } = await between([secret({ a: 'dmFsdWU=' })], [secret({ a: 'dmFsdWU=' })]);
    expect(text).toBe('ClusterResourcePlacement "web": revisions 0 and 1 are equal');
    expect(code).toBe(0);
  });
});
