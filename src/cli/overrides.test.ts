// `flotilla overrides` against the real API server over https, in both scopes. No hub runs: the test creates the
// snapshots.
import { expect, test } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { clusterFamily, families, type PlacementFamily } from '../hub/families.ts';
import { whichPlacement } from '../insight/which-placement.ts';
import { type OverridesOptions, showOverrides } from './overrides.ts';
import { printing, serving } from './served.testing.ts';

const FLEET = 'placement.kubernetes-fleet.io/v1beta1';
const QUOTA = { group: '', version: 'v1', kind: 'ResourceQuota', name: 'limits' };
const MAP = { group: '', version: 'v1', kind: 'ConfigMap', name: 'app' };
const member = (name: string, env: string): KubeObject => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name, labels: { env } },
  spec: { identity: { kind: 'User', name } },
});

async function shown(
  family: PlacementFamily,
  path: string,
  options: OverridesOptions = {},
  more: readonly KubeObject[] = [],
) {
  const isWide = family === clusterFamily;
  const namespace = isWide ? {} : { namespace: 'shop' };
  const spec = {
    resourceSelectors: [MAP],
    policy: {
      overrideRules: [
        {
          clusterSelector: { clusterSelectorTerms: [{ labelSelector: { matchLabels: { env: 'prod' } } }] },
          overrideType: 'JSONPatch',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
          jsonPatchOverrides: [{ op: 'add', path, value: 'on ${MEMBER-CLUSTER-NAME}' }],
        },
      ],
    },
  };
  const binding = (cluster: string): KubeObject => ({
    apiVersion: FLEET,
    kind: family.binding.kind,
    metadata: { name: `web-${cluster}`, ...namespace, labels: { 'kubernetes-fleet.io/parent-CRP': 'web' } },
    spec: {
      state: 'Bound',
      targetCluster: cluster,
      resourceSnapshotName: '',
      schedulingPolicySnapshotName: 'web-0',
      clusterDecision: { clusterName: cluster, selected: true, reason: '' },
    },
  });
  const { server } = await serving([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace: 'shop' },
      data: { value: '1' },
    } as never,
    {
      apiVersion: FLEET,
      kind: family.placement.kind,
      metadata: { name: 'web', ...namespace },
      spec: { resourceSelectors: [isWide ? { group: '', version: 'v1', kind: 'Namespace', name: 'shop' } : MAP] },
    },
    { apiVersion: FLEET, kind: 'ResourceOverride', metadata: { name: 'ro', namespace: 'shop' }, spec },
    {
      apiVersion: FLEET,
      kind: 'ResourceOverrideSnapshot',
      metadata: {
        name: 'ro-0',
        namespace: 'shop',
        labels: {
          'kubernetes-fleet.io/parent-resource-override': 'ro',
          'kubernetes-fleet.io/override-index': '0',
          'kubernetes-fleet.io/is-latest-snapshot': 'true',
        },
      },
      spec: { overrideSpec: spec, overrideHash: 'YQ==' },
    },
    member('c1', 'prod'),
    member('c10', 'test'),
    member('c2', 'test'),
    binding('c1'),
    binding('c10'),
    binding('c2'),
    ...more,
  ]);
  const { print, text } = printing();
  const which = whichPlacement('placement/web', isWide ? undefined : 'shop');
  const code = await showOverrides(await server(), which, options, print);
  return { code, text: text() };
}

test.each(families)(
  'overrides of a $placement.kind are shown per cluster, in order and with what they change',
  async (family) => {
    const { code, text } = await shown(family, '/data/value');
    expect(code).toBe(0);
    expect(text).toContain('cluster c1:\n  1. ResourceOverrideSnapshot "shop/ro-0"\n  ConfigMap "shop/app": changed');
    expect(text).toContain('data.value: "1" -> "on c1"');
    expect(text.match(/^cluster c\d+/gm)).toEqual(['cluster c1', 'cluster c2', 'cluster c10']);
    expect(text).toContain('cluster c2: no override applies');
  },
);

test.each(families)('-o yaml prints the objects as a cluster of a $placement.kind gets them', async (family) => {
  const { text } = await shown(family, '/data/value', { cluster: 'c1', output: 'yaml' });
  expect(text).toContain('value: on c1');
  expect(text).not.toContain('c2');
});

test('an override that does not apply is named with its rule and path, and a cluster that is not picked is an error', async () => {
  const { code, text } = await shown(clusterFamily, '/data/none/deeper');
  expect(code).toBe(2);
  expect(text).toContain('failed: rule 1 of ResourceOverrideSnapshot "ro-0"');
  expect(text).toContain('/data/none/deeper');
  await expect(shown(clusterFamily, '/data/value', { cluster: 'far' })).rejects.toThrow(
    'does not pick a cluster "far"',
  );
});

test('an object in an envelope is overridden as it is on the clusters', async () => {
  const spec = {
    resourceSelectors: [QUOTA],
    policy: {
      overrideRules: [
        {
          clusterSelector: { clusterSelectorTerms: [] },
          overrideType: 'JSONPatch',
          jsonPatchOverrides: [{ op: 'replace', path: '/spec/hard/pods', value: '7' }],
        },
      ],
    },
  };
  const { text } = await shown(clusterFamily, '/data/value', { cluster: 'c2' }, [
    {
      apiVersion: FLEET,
      kind: 'ResourceEnvelope',
      metadata: { name: 'wrap', namespace: 'shop' },
      data: {
        quota: {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'limits', namespace: 'shop' },
          spec: { hard: { pods: '3' } },
        },
      },
    } as never,
    { apiVersion: FLEET, kind: 'ResourceOverride', metadata: { name: 'in', namespace: 'shop' }, spec },
    {
      apiVersion: FLEET,
      kind: 'ResourceOverrideSnapshot',
      metadata: {
        name: 'in-0',
        namespace: 'shop',
        labels: {
          'kubernetes-fleet.io/parent-resource-override': 'in',
          'kubernetes-fleet.io/override-index': '0',
          'kubernetes-fleet.io/is-latest-snapshot': 'true',
        },
      },
      spec: { overrideSpec: spec, overrideHash: 'YQ==' },
    },
  ]);
  expect(text).toContain(
    '1. ResourceOverrideSnapshot "shop/in-0"\n  ResourceQuota "shop/limits" (in ResourceEnvelope "shop/wrap"): changed',
  );
  expect(text).toContain('spec.hard.pods: "3" -> "7"');
});
