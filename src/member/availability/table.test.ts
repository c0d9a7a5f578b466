import { describe, expect, test } from 'vitest';
import { builtinKinds } from '../../api/builtin/kinds.ts';
import type { Resource } from '../../api/kind.ts';
import { groupVersionOf, type KubeObject, type Labels } from '../../api/object.ts';
import { verdictOf } from './table.ts';

const resource = (text: string): Resource => {
  const at = text.lastIndexOf('/');
  return {
    ...groupVersionOf(text.slice(0, at).replace(/^\//, '')),
    kind: 'Any',
    plural: text.slice(at + 1),
    namespaced: true,
  };
};

const live = (parts: Partial<KubeObject> & { readonly generation?: number }): KubeObject => {
  const { generation = 2, metadata, ...rest } = parts;
  return { apiVersion: 'v1', kind: 'Any', ...rest, metadata: { name: 'a', generation, ...metadata } };
};

const is = (text: string, object: Parameters<typeof live>[0]) => verdictOf(resource(text), live(object)).is;

describe('data is available at once', () => {
  test.each([
    '/v1/namespaces',
    '/v1/secrets',
    '/v1/configmaps',
    '/v1/serviceaccounts',
    '/v1/limitranges',
    '/v1/resourcequotas',
    'rbac.authorization.k8s.io/v1/roles',
    'rbac.authorization.k8s.io/v1/clusterroles',
    'rbac.authorization.k8s.io/v1/rolebindings',
    'rbac.authorization.k8s.io/v1/clusterrolebindings',
    'networking.k8s.io/v1/networkpolicies',
    'networking.k8s.io/v1/ingressclasses',
    'storage.k8s.io/v1/csidrivers',
    'storage.k8s.io/v1/csinodes',
    'storage.k8s.io/v1/storageclasses',
    'storage.k8s.io/v1/csistoragecapacities',
    'apps/v1/controllerrevisions',
    'scheduling.k8s.io/v1/priorityclasses',
  ])('%s', (text) => {
    expect(is(text, {})).toBe('available');
    const { group, plural, version } = resource(text);
    expect(
      builtinKinds.some((kind) => kind.group === group && kind.plural === plural && kind.versions.includes(version)),
    ).toBe(true);
  });
});

describe('of others nobody can tell', () => {
  test.each([
    '/v1/pods',
    '/v1/persistentvolumes',
    '/v1/persistentvolumeclaims',
    'batch/v1/jobs',
    'batch/v1/cronjobs',
    'networking.k8s.io/v1/ingresses',
    'autoscaling/v2/horizontalpodautoscalers',
    'example.com/v1/widgets',
    'apps/v1beta1/deployments',
    'example.com/v1/deployments',
    'policy/v1beta1/poddisruptionbudgets',
    '/v1/constructor',
  ])('%s', (text) => expect(is(text, {})).toBe('untracked'));
});

describe('a Deployment', () => {
  const good = { observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3 };
  test.each([
    {
      it: 'is available with all replicas updated and available',
      spec: { replicas: 3 },
      status: good,
      is: 'available',
    },
    {
      it: 'wants one replica if it does not say',
      spec: {},
      status: { ...good, updatedReplicas: 1, availableReplicas: 1 },
      is: 'available',
    },
    { it: 'with no replicas is available', spec: { replicas: 0 }, status: { observedGeneration: 2 }, is: 'available' },
    {
      it: 'whose spec was not looked at is not',
      spec: { replicas: 3 },
      status: { ...good, observedGeneration: 1 },
      is: 'not-yet',
    },
    { it: 'that still updates is not', spec: { replicas: 3 }, status: { ...good, updatedReplicas: 2 }, is: 'not-yet' },
    {
      it: 'with too few available is not',
      spec: { replicas: 3 },
      status: { ...good, availableReplicas: 2 },
      is: 'not-yet',
    },
    {
      it: 'with a surplus that is not is not',
      spec: { replicas: 3 },
      status: { ...good, unavailableReplicas: 1 },
      is: 'not-yet',
    },
    { it: 'without a status is not', spec: { replicas: 1 }, status: undefined, is: 'not-yet' },
    { it: 'with nonsense for a status is not', spec: { replicas: 1 }, status: 'ready', is: 'not-yet' },
  ])('$it', ({ spec, status, is: expected }) => expect(is('apps/v1/deployments', { spec, status })).toBe(expected));

  test('that missed its deadline says so', () => {
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    const verdict = verdictOf(resource('apps/v1/deployments'), live({ status: { observedGeneration: 2, conditions } }));
    expect(verdict).toEqual({
      is: 'failed',
      why: 'it made no progress within its deadline',
      detail: '0 of 1 replicas are updated, 0 of 1 are available',
    });
  });

  test('that missed its deadline says how far it came, and what its own controller says', () => {
    const conditions = [
      { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'it has timed out.' },
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'pods "web-1" is forbidden: quota' },
    ];
    const status = { observedGeneration: 2, updatedReplicas: 1, availableReplicas: 2, conditions };
    expect(verdictOf(resource('apps/v1/deployments'), live({ spec: { replicas: 3 }, status }))).toMatchObject({
      detail: '1 of 3 replicas are updated, 2 of 3 are available; it has timed out; pods "web-1" is forbidden: quota',
    });
  });

  test.each([
    { replicas: 1, why: 'its replica is not up to date and available yet' },
    { replicas: 2, why: 'not all of its 2 replicas are up to date and available yet' },
    { replicas: 0, why: 'not all of its replicas are up to date and available yet' },
  ])('says how many replicas it wants: $replicas', ({ replicas, why }) => {
    expect(verdictOf(resource('apps/v1/deployments'), live({ spec: { replicas } }))).toEqual({ is: 'not-yet', why });
    expect(verdictOf(resource('apps/v1/statefulsets'), live({ spec: { replicas } }))).toEqual({ is: 'not-yet', why });
  });

  test('says the same however many replicas it waits for', () => {
    const why = (availableReplicas: number) =>
      JSON.stringify(
        verdictOf(
          resource('apps/v1/deployments'),
          live({ spec: { replicas: 3 }, status: { ...good, availableReplicas } }),
        ),
      );
    expect(why(1)).toBe(why(2));
  });
});

const rows: readonly (readonly [string, string, string, Parameters<typeof live>[0]])[] = [
  [
    'a StatefulSet',
    'apps/v1/statefulsets',
    'available',
    {
      spec: { replicas: 2 },
      status: {
        observedGeneration: 2,
        availableReplicas: 2,
        currentReplicas: 2,
        updatedReplicas: 2,
        currentRevision: 'a',
        updateRevision: 'a',
      },
    },
  ],
  [
    'a StatefulSet between two revisions',
    'apps/v1/statefulsets',
    'not-yet',
    {
      spec: { replicas: 2 },
      status: {
        observedGeneration: 2,
        availableReplicas: 2,
        currentReplicas: 2,
        updatedReplicas: 2,
        currentRevision: 'a',
        updateRevision: 'b',
      },
    },
  ],
  [
    'a StatefulSet half updated',
    'apps/v1/statefulsets',
    'not-yet',
    {
      spec: { replicas: 2 },
      status: {
        observedGeneration: 2,
        availableReplicas: 2,
        currentReplicas: 1,
        updatedReplicas: 2,
        currentRevision: 'a',
        updateRevision: 'a',
      },
    },
  ],
  [
    'a StatefulSet not looked at',
    'apps/v1/statefulsets',
    'not-yet',
    { spec: { replicas: 0 }, status: { observedGeneration: 1 } },
  ],
  [
    'a DaemonSet',
    'apps/v1/daemonsets',
    'available',
    {
      status: {
        observedGeneration: 2,
        numberAvailable: 3,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 3,
      },
    },
  ],
  ['a DaemonSet without nodes', 'apps/v1/daemonsets', 'available', { status: { observedGeneration: 2 } }],
  [
    'a DaemonSet that updates',
    'apps/v1/daemonsets',
    'not-yet',
    {
      status: {
        observedGeneration: 2,
        numberAvailable: 3,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 2,
      },
    },
  ],
  [
    'a DaemonSet missing on a node',
    'apps/v1/daemonsets',
    'not-yet',
    {
      status: {
        observedGeneration: 2,
        numberAvailable: 2,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        updatedNumberScheduled: 3,
      },
    },
  ],
  ['a Service with an IP', '/v1/services', 'available', { spec: { type: 'ClusterIP', clusterIPs: ['10.0.0.1'] } }],
  ['a headless Service', '/v1/services', 'available', { spec: { clusterIPs: ['None'] } }],
  ['a NodePort Service without an IP', '/v1/services', 'not-yet', { spec: { type: 'NodePort', clusterIPs: [''] } }],
  ['a Service without an IP', '/v1/services', 'not-yet', { spec: { type: '' } }],
  [
    'a load balancer with an address',
    '/v1/services',
    'available',
    { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ hostname: 'a.b' }] } } },
  ],
  [
    'a load balancer without',
    '/v1/services',
    'not-yet',
    { spec: { type: 'LoadBalancer', clusterIPs: ['10.0.0.1'] }, status: { loadBalancer: { ingress: [{}] } } },
  ],
  ['an ExternalName Service', '/v1/services', 'untracked', { spec: { type: 'ExternalName' } }],
  [
    'a definition in force',
    'apiextensions.k8s.io/v1/customresourcedefinitions',
    'available',
    {
      status: {
        conditions: [
          { type: 'Established', status: 'True' },
          { type: 'NamesAccepted', status: 'True' },
        ],
      },
    },
  ],
  [
    'a definition whose names clash',
    'apiextensions.k8s.io/v1/customresourcedefinitions',
    'not-yet',
    {
      status: {
        conditions: [
          { type: 'Established', status: 'True' },
          { type: 'NamesAccepted', status: 'False', message: 'taken' },
        ],
      },
    },
  ],
  ['a new definition', 'apiextensions.k8s.io/v1/customresourcedefinitions', 'not-yet', {}],
  [
    'a disruption budget that allows some',
    'policy/v1/poddisruptionbudgets',
    'available',
    {
      status: {
        observedGeneration: 2,
        disruptionsAllowed: 1,
        conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
      },
    },
  ],
  [
    'a disruption budget that allows none',
    'policy/v1/poddisruptionbudgets',
    'available',
    {
      status: {
        observedGeneration: 2,
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
      },
    },
  ],
  [
    'a disruption budget at odds with itself',
    'policy/v1/poddisruptionbudgets',
    'not-yet',
    {
      status: {
        observedGeneration: 2,
        disruptionsAllowed: 1,
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
      },
    },
  ],
  [
    'a disruption budget not looked at',
    'policy/v1/poddisruptionbudgets',
    'not-yet',
    {
      status: {
        observedGeneration: 1,
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
      },
    },
  ],
];

describe('others that tell', () => {
  test.each(rows)('%s (%s) is %s', (_it, text, expected, object) => expect(is(text, object)).toBe(expected));
});

describe('a ServiceExport', () => {
  const of = (weight: string | undefined, valid?: [string, number], conflict?: [string, number]) => ({
    metadata: {
      annotations: { ...(weight === undefined ? {} : { 'networking.fleet.azure.com/weight': weight }) } as Labels,
    },
    status: {
      conditions: [
        ...(valid ? [{ type: 'Valid', status: valid[0], observedGeneration: valid[1] }] : []),
        ...(conflict ? [{ type: 'Conflict', status: conflict[0], observedGeneration: conflict[1] }] : []),
      ],
    },
  });
  test.each([
    { it: 'valid and without conflict', object: of(undefined, ['True', 2], ['False', 2]), is: 'available' },
    { it: 'not told of conflicts', object: of(undefined, ['True', 2]), is: 'not-yet' },
    { it: 'in conflict', object: of('1000', ['True', 2], ['True', 2]), is: 'not-yet' },
    { it: 'valid of old', object: of('1', ['True', 1], ['False', 2]), is: 'not-yet' },
    { it: 'of weight 0, valid', object: of('0', ['True', 2]), is: 'available' },
    { it: 'of weight 0, not valid', object: of('0', ['False', 2]), is: 'not-yet' },
    { it: 'of a weight that is none', object: of('heavy', ['True', 2], ['False', 2]), is: 'not-yet' },
    { it: 'too heavy', object: of('1001', ['True', 2], ['False', 2]), is: 'not-yet' },
  ])('$it is $is', ({ object, is: expected }) => {
    expect(is('networking.fleet.azure.com/v1alpha1/serviceexports', object)).toBe(expected);
    expect(is('networking.fleet.azure.com/v1beta1/serviceexports', object)).toBe(expected);
  });
});

describe('a Job', () => {
  const asked = { metadata: { annotations: { 'flotilla.dev/track-availability': 'true' } } };
  test.each([
    { it: 'that nobody asks', object: { status: { failed: 1 } }, is: 'untracked' },
    { it: 'asked, with a ready Pod', object: { ...asked, status: { ready: 1 } }, is: 'available' },
    { it: 'asked, with one that succeeded', object: { ...asked, status: { succeeded: 1 } }, is: 'available' },
    { it: 'asked, with none', object: { ...asked, status: { active: 1 } }, is: 'not-yet' },
    {
      it: 'asked, that failed',
      object: {
        ...asked,
        status: { succeeded: 1, conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] },
      },
      is: 'failed',
    },
  ])('$it is $is', ({ object, is: expected }) => expect(is('batch/v1/jobs', object)).toBe(expected));
});
