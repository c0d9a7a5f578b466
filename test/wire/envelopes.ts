// Envelopes of seed 003 §3 with kubectl and the commands: on our own servers and on Kubernetes' own, word for word. One fleet for all; each test has
// a namespace of its own and one member. Numbers (V3-22, S3-17) are those of the checklist.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Fleet, Identified, StartFleet } from './delivery.ts';
import { flotilla } from './fleet.ts';

const MARK = 'kubernetes-fleet.io/envelope-configmap';
const FLEET = 'placement.kubernetes-fleet.io';

const space = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const config = (namespace: string, name: string, data: object, annotations: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, annotations },
  data,
});

const quota = (namespace: string) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'limits', namespace },
  spec: { hard: { pods: '10' } },
});

/** It refuses every Secret of the namespace where it acts: nothing answers at that address. */
const webhooks = (kind: string, name: string, namespace: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name },
  webhooks: [
    {
      name: 'guard.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/guard' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
    },
  ],
});

const placement = (name: string, member: string, more: readonly object[] = []) => ({
  apiVersion: `${FLEET}/v1`,
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }, ...more],
    policy: { placementType: 'PickFixed', clusterNames: [member] },
  },
});

const envelopeOf = (kind: string, name: string, namespace: string | undefined, entries: readonly object[]) => ({
  apiVersion: `${FLEET}/v1beta1`,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  data: Object.fromEntries(entries.map((each, at) => [`entry-${at}.yaml`, each])),
});

/** What acts on the cluster where it is, by what the seed lists (S3-17). */
const wideObjects = (namespace: string) => [
  webhooks('ValidatingWebhookConfiguration', `${namespace}-validating`, namespace),
  webhooks('MutatingWebhookConfiguration', `${namespace}-mutating`, namespace),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'nobody' }],
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: namespace },
    provisioner: 'example.com/none',
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: namespace },
    spec: { priorityLevelConfiguration: { name: 'workload-low' }, matchingPrecedence: 9000 },
  },
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: namespace }, value: 10 },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: namespace },
    spec: { controller: 'example.com/none' },
  },
];
const narrowObjects = (namespace: string) => [
  quota(namespace),
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', namespace },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'none', namespace },
    spec: { podSelector: {}, policyTypes: ['Ingress'] },
  },
];

export function describeEnvelopes(start: StartFleet, member: string): void {
  describe('envelopes', () => {
    let fleet: Fleet;
    beforeAll(async () => {
      fleet = await start();
    }, 300_000);
    afterAll(async () => fleet?.[Symbol.asyncDispose]());

    const createsSecret = (namespace: string) =>
      fleet.hub(['-n', namespace, 'create', 'secret', 'generic', 'free', '--from-literal=a=b']);
    const on = async (context: 'hub' | 'member', args: readonly string[]) =>
      (context === 'hub' ? await fleet.hub(args) : await fleet.on(member, args)).split('\n').filter(Boolean).toSorted();
    const selected = async (name: string): Promise<readonly Identified[]> =>
      (await fleet.status('crp', name)).selectedResources ?? [];

    test('V3-22: a ConfigMap with a quota and a webhook configuration brings both to members, and neither acts on the hub', async () => {
      const name = 'enveloped';
      const guard = webhooks('ValidatingWebhookConfiguration', `${name}-guard`, name);
      const entries = { 'quota.yaml': JSON.stringify(quota(name)), 'guard.yaml': JSON.stringify(guard) };
      await fleet.apply(space(name), config(name, 'app', { value: '1' }));
      await fleet.apply(config(name, 'wrap', entries, { [MARK]: 'true' }));
      await fleet.apply(placement(name, member));
      await fleet.waitForAvailable(`crp/${name}`);

      expect(await on('member', ['-n', name, 'get', 'quota', '-o', 'name'])).toEqual(['resourcequota/limits']);
      expect(await on('member', ['get', 'validatingwebhookconfigurations', '-o', 'name'])).toContain(
        `validatingwebhookconfiguration.admissionregistration.k8s.io/${name}-guard`,
      );
      expect(await on('member', ['-n', name, 'get', 'cm', '-o', 'name'])).not.toContain('configmap/wrap');
      const envelope = { name: 'wrap', namespace: name, type: 'ConfigMap' };
      expect(await selected(name)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ kind: 'ResourceQuota', name: 'limits', envelope }),
          expect.objectContaining({ kind: 'ValidatingWebhookConfiguration', name: `${name}-guard`, envelope }),
        ]),
      );

      expect(await on('hub', ['-n', name, 'get', 'quota', '-o', 'name'])).toEqual([]);
      expect(await on('hub', ['get', 'validatingwebhookconfigurations', '-o', 'name'])).not.toContain(
        `validatingwebhookconfiguration.admissionregistration.k8s.io/${name}-guard`,
      );
      await createsSecret(name);
    });

    test('V3-23: a ConfigMap with the same annotation and plain data is placed as any other', async () => {
      const name = 'marked';
      await fleet.apply(space(name), config(name, 'settings', { value: 'plain' }, { [MARK]: 'true' }));
      await fleet.apply(placement(name, member));
      await fleet.waitForAvailable(`crp/${name}`);
      expect(await fleet.on(member, ['-n', name, 'get', 'cm', 'settings', '-o', 'jsonpath={.data.value}'])).toBe(
        'plain',
      );
      await fleet.hub([
        'wait',
        '--for=create',
        'events',
        '--field-selector=reason=PlacementEnvelopeIgnored',
        '--timeout=60s',
      ]);
    });

    test('S3-17: whatever acts on its cluster comes out of an envelope on members only, and goes with the placement', async () => {
      const name = 'effects';
      const wide = wideObjects(name);
      const narrow = narrowObjects(name);
      const [ofCluster, ofNamespace] = [
        envelopeOf('ClusterResourceEnvelope', name, undefined, wide),
        envelopeOf('ResourceEnvelope', 'wrap', name, narrow),
      ];
      await fleet.apply(space(name));
      await fleet.apply(ofCluster, ofNamespace);
      const selector = { group: FLEET, version: 'v1beta1', kind: 'ClusterResourceEnvelope', name };
      await fleet.apply(placement(name, member, [selector]));
      await fleet.waitForAvailable(`crp/${name}`);

      const names = (objects: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[]) =>
        objects.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
      const ofWide = names(wide as never);
      const ofNarrow = names(narrow as never);
      const found = async (context: 'hub' | 'member') =>
        (
          await on(context, [
            ...['-n', name, 'get', ...[...ofWide, ...ofNarrow]],
            ...['--ignore-not-found', '-o', 'jsonpath={range .items[*]}{.kind}/{.metadata.name}{"\\n"}{end}'],
          ])
        ).map((line) => line.toLowerCase());
      expect(await found('member')).toEqual([...ofWide, ...ofNarrow].toSorted());
      expect(await found('hub')).toEqual([]);
      await createsSecret(name);

      const works = await on('hub', [
        ...['-n', `fleet-member-${member}`, 'get', 'works', '-l', `kubernetes-fleet.io/parent-CRP=${name}`],
        ...['-o', 'jsonpath={range .items[*]}{.metadata.labels.kubernetes-fleet\\.io/envelope-work}{"\\n"}{end}'],
      ]);
      expect(works).toEqual(['ClusterResourceEnvelope', 'ResourceEnvelope']);

      await fleet.hub(['delete', 'crp', name, '--timeout=60s']);
      expect(await found('member')).toEqual([]);
    });

    test('an entry that fails is named with its envelope, by the placement and by why', async () => {
      const name = 'failing';
      const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'one', namespace: name } };
      await fleet.apply(space(name));
      await fleet.apply(envelopeOf('ResourceEnvelope', 'wrap', name, [gadget, quota(name)]));
      await fleet.apply(placement(name, member));
      const status = await fleet.waitForStatus(
        ['crp', name],
        ({ placementStatuses = [] }) => placementStatuses.some((each) => each.failedPlacements !== undefined),
        'the entry fails',
      );
      expect(status.placementStatuses?.[0]?.failedPlacements).toMatchObject([
        { kind: 'Gadget', name: 'one', envelope: { name: 'wrap', namespace: name, type: 'ResourceEnvelope' } },
      ]);
      expect(await on('member', ['-n', name, 'get', 'quota', '-o', 'name'])).toEqual(['resourcequota/limits']);
      const { stdout } = await flotilla(fleet.home, ['why', `placement/${name}`, '--cluster', member], {
        KUBECONFIG: fleet.kubeconfig,
      });
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`(in ResourceEnvelope "${name}/wrap")`);
    });
  });
}
