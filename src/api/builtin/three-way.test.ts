import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyMergePatch } from '../../apiserver/patch/merge-patch.ts';
import { applyStrategicPatch } from '../../apiserver/patch/strategic.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { threeWayDifference } from './three-way.ts';
import { builtinSchema, resolveBuiltin } from './types.ts';

const POD = 'io.k8s.api.core.v1.Pod';
const DEPLOYMENT = 'io.k8s.api.apps.v1.Deployment';
const SERVICE = 'io.k8s.api.core.v1.Service';
const POLICY = 'io.k8s.api.networking.v1.NetworkPolicy';
const LIMITS = 'io.k8s.api.core.v1.LimitRange';

interface Row {
  readonly it: string;
  readonly type?: string;
  readonly last?: JsonObject;
  readonly wanted: JsonObject;
  readonly live: JsonObject;
  readonly patch: JsonObject;
}

const pod = (...containers: readonly JsonObject[]): JsonObject => ({ spec: { containers } });
const c = (name: string, more: JsonObject = {}): JsonObject => ({ name, ...more });

const rows: readonly Row[] = [
  { it: 'is empty when all is there', type: POD, wanted: pod(c('a')), live: pod(c('a', { image: 'x' })), patch: {} },
  {
    it: 'sets what is wanted and leaves what others put there',
    wanted: { spec: { a: 1 } },
    live: { spec: { a: 2, b: 3 } },
    patch: { spec: { a: 1 } },
  },
  {
    it: 'takes out what is no longer wanted, if it is there',
    last: { spec: { a: 1, b: 1 } },
    wanted: { spec: {} },
    live: { spec: { a: 1 } },
    patch: { spec: { a: null } },
  },
  {
    it: 'takes null for absent',
    last: { spec: { a: 1 } },
    wanted: { spec: { a: null, b: null } },
    live: { spec: { a: 1, b: 2 } },
    patch: { spec: { a: null } },
  },
  {
    it: 'takes only our labels when none are wanted any more',
    last: { metadata: { labels: { a: '1' } } },
    wanted: { metadata: {} },
    live: { metadata: { labels: { a: '1', theirs: '2' } } },
    patch: { metadata: { labels: { a: null } } },
  },
  {
    it: 'keeps finalizers that others added, also on custom kinds',
    last: { metadata: { finalizers: ['a', 'b'] } },
    wanted: { metadata: { finalizers: ['a', 'c'] } },
    live: { metadata: { finalizers: ['b', 'theirs'] } },
    patch: { metadata: { finalizers: ['theirs', 'a', 'c'] } },
  },
  {
    it: 'adds and removes from a set by name on built-in kinds',
    type: POD,
    last: { metadata: { finalizers: ['a', 'b'] } },
    wanted: { metadata: { finalizers: ['a', 'c'] } },
    live: { metadata: { finalizers: ['b', 'theirs'] } },
    patch: { metadata: { finalizers: ['a', 'c'], '$deleteFromPrimitiveList/finalizers': ['b'] } },
  },
  {
    it: 'replaces lists of custom kinds as a whole',
    wanted: { spec: { list: [{ name: 'a' }] } },
    live: { spec: { list: [{ name: 'b' }] } },
    patch: { spec: { list: [{ name: 'a' }] } },
  },
  {
    it: 'takes out what somebody put into an entry of a list that is replaced as a whole',
    last: { spec: { list: [{ name: 'a' }] } },
    wanted: { spec: { list: [{ name: 'a' }] } },
    live: { spec: { list: [{ name: 'a', size: 1 }] } },
    patch: { spec: { list: [{ name: 'a' }] } },
  },
  {
    it: 'takes out of such an entry what is no longer wanted',
    last: { spec: { list: [{ name: 'a', size: 1 }] } },
    wanted: { spec: { list: [{ name: 'a' }] } },
    live: { spec: { list: [{ name: 'a', size: 1 }] } },
    patch: { spec: { list: [{ name: 'a' }] } },
  },
  {
    it: 'changes one entry of a keyed list',
    type: POD,
    wanted: pod(c('a', { image: 'x' }), c('b', { image: 'y' })),
    live: pod(c('a', { image: 'x' }), c('b', { image: 'z' }), c('injected')),
    patch: pod(c('b', { image: 'y' })),
  },
  {
    it: 'adds an entry where it belongs',
    type: POD,
    wanted: pod(c('a'), c('b', { image: 'y' })),
    live: pod(c('b', { image: 'y' })),
    patch: { spec: { containers: [c('a')], '$setElementOrder/containers': [c('a'), c('b')] } },
  },
  {
    it: 'removes only entries that were ours',
    type: POD,
    last: pod(c('a'), c('old'), c('never came')),
    wanted: pod(c('a')),
    live: pod(c('a'), c('old'), c('injected')),
    patch: { spec: { containers: [{ $patch: 'delete', name: 'old' }] } },
  },
  {
    it: 'puts entries in order',
    type: POD,
    wanted: pod(c('a'), c('b')),
    live: pod(c('b'), c('a')),
    patch: { spec: { '$setElementOrder/containers': [c('a'), c('b')] } },
  },
  {
    it: 'takes quantities for what they say',
    type: POD,
    wanted: pod(c('a', { resources: { limits: { cpu: '0.5', memory: 1024 } } })),
    live: pod(c('a', { resources: { limits: { cpu: '500m', memory: '1Ki' } } })),
    patch: {},
  },
  {
    it: 'does not miss empty values that a typed server drops',
    type: POD,
    wanted: { spec: { hostNetwork: false, nodeName: '', tolerations: [], containers: [c('a', { tty: false })] } },
    live: pod(c('a')),
    patch: {},
  },
  {
    it: 'leaves nothing of the other arm of a union',
    type: DEPLOYMENT,
    last: { spec: { strategy: { type: 'RollingUpdate' } } },
    wanted: { spec: { strategy: { type: 'Recreate' } } },
    live: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
    patch: { spec: { strategy: { type: 'Recreate', $retainKeys: ['type'] } } },
  },
  {
    it: 'removes a whole struct that is no longer wanted, with its defaults',
    type: POD,
    last: pod(c('a', { livenessProbe: { httpGet: { port: 80 } } })),
    wanted: pod(c('a')),
    live: pod(c('a', { livenessProbe: { httpGet: { port: 80, scheme: 'HTTP' }, timeoutSeconds: 1 } })),
    patch: pod({ livenessProbe: null, name: 'a' }),
  },
  {
    it: 'is content with one port number for two protocols',
    type: SERVICE,
    wanted: { spec: { ports: [{ port: 53, protocol: 'UDP' }, { port: 53 }] } },
    live: {
      spec: {
        ports: [
          { port: 53, protocol: 'UDP', nodePort: 1 },
          { port: 53, protocol: 'TCP', nodePort: 2 },
        ],
      },
    },
    patch: {},
  },
  {
    it: 'sends such a list as a whole, with what the server had filled in',
    type: SERVICE,
    wanted: { spec: { ports: [{ port: 53, protocol: 'UDP', name: 'u' }, { port: 53 }] } },
    live: {
      spec: {
        ports: [
          { port: 53, protocol: 'UDP', nodePort: 1 },
          { port: 53, protocol: 'TCP', nodePort: 2 },
        ],
      },
    },
    patch: {
      spec: {
        ports: [
          { $patch: 'replace' },
          { port: 53, protocol: 'UDP', nodePort: 1, name: 'u' },
          { port: 53, protocol: 'TCP', nodePort: 2 },
        ],
      },
    },
  },
  {
    it: 'takes out of such an entry what is no longer wanted there',
    type: SERVICE,
    last: { spec: { ports: [{ port: 53, protocol: 'UDP', appProtocol: 'x' }, { port: 53 }] } },
    wanted: { spec: { ports: [{ port: 53, protocol: 'UDP' }, { port: 53 }] } },
    live: {
      spec: {
        ports: [
          { port: 53, protocol: 'UDP', appProtocol: 'x', nodePort: 1 },
          { port: 53, protocol: 'TCP', nodePort: 2 },
        ],
      },
    },
    patch: {
      spec: {
        ports: [
          { $patch: 'replace' },
          { port: 53, protocol: 'UDP', nodePort: 1 },
          { port: 53, protocol: 'TCP', nodePort: 2 },
        ],
      },
    },
  },
  {
    it: 'does not mix up two entries of one name',
    type: POD,
    wanted: pod(c('a', { env: [c('X', { value: '1' }), c('X', { valueFrom: { fieldRef: { fieldPath: 'f' } } })] })),
    live: pod(
      c('a', {
        env: [c('X', { value: '1' }), c('X', { valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'f' } } })],
      }),
    ),
    patch: {},
  },
  {
    it: 'takes out a second entry of the same name that somebody added',
    type: POD,
    last: pod(c('a', { env: [c('X', { value: '1' })] })),
    wanted: pod(c('a', { env: [c('X', { value: '1' })] })),
    live: pod(c('a', { env: [c('X', { value: '1' }), c('X', { value: '2' })] })),
    patch: pod({ env: [{ $patch: 'replace' }, c('X', { value: '1' })], name: 'a' }),
  },
  {
    it: 'sees no difference in defaults inside lists that are replaced as a whole',
    type: POLICY,
    last: { spec: { ingress: [{ ports: [{ port: 80 }] }] } },
    wanted: { spec: { ingress: [{ ports: [{ port: 80 }] }] } },
    live: { spec: { ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] } },
    patch: {},
  },
  ...(
    [
      [
        'opens a policy to all namespaces',
        { from: [{ podSelector: {}, namespaceSelector: {} }], ports: [{ port: 80 }] },
      ],
      ['adds ports to a policy', { from: [{ podSelector: {} }], ports: [{ port: 80, protocol: 'TCP', endPort: 90 }] }],
      ['says another protocol', { from: [{ podSelector: {} }], ports: [{ port: 80, protocol: 'UDP' }] }],
      ['widens a selector', { from: [{ podSelector: { matchLabels: { a: 'b' } } }], ports: [{ port: 80 }] }],
    ] as const
  ).map(([does, rule]): Row => {
    const wanted = { spec: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] } };
    return {
      it: `puts back what is wanted when somebody ${does}`,
      type: POLICY,
      last: wanted,
      wanted,
      live: { spec: { ingress: [rule] } },
      patch: wanted,
    };
  }),
  {
    it: 'puts back a toleration of somebody',
    type: DEPLOYMENT,
    last: { spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } } } },
    wanted: { spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } } } },
    live: { spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }] } } } },
    patch: { spec: { template: { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } } } },
  },
  {
    it: 'puts back such a list inside an entry of a keyed one',
    type: POD,
    last: pod(c('a', { envFrom: [{ configMapRef: { name: 'm' } }] })),
    wanted: pod(c('a', { envFrom: [{ configMapRef: { name: 'm' } }] })),
    live: pod(c('a', { envFrom: [{ configMapRef: { name: 'm', optional: true } }], image: 'x' })),
    patch: pod(c('a', { envFrom: [{ configMapRef: { name: 'm' } }] })),
  },
  {
    it: 'knows what a server fills into such entries, in whole or in part',
    type: LIMITS,
    wanted: { spec: { limits: [{ type: 'Container', default: { cpu: '1' }, max: { cpu: 2, memory: '1Gi' } }] } },
    live: {
      spec: {
        limits: [
          {
            type: 'Container',
            default: { cpu: '1', memory: '1Gi' },
            defaultRequest: { cpu: '1', memory: '1Gi' },
            max: { cpu: '2', memory: '1Gi' },
          },
        ],
      },
    },
    patch: {},
  },
  {
    it: 'takes an empty value and none for the same where a type cannot tell them apart, and only there',
    type: POLICY,
    wanted: { spec: { ingress: [{ ports: [], from: [{ ipBlock: { cidr: '10.0.0.0/8', except: [] } }] }, {}] } },
    live: { spec: { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }, { ports: [], from: [] }] } },
    patch: {},
  },
  {
    it: 'is not fooled by names that all objects inherit',
    wanted: { data: JSON.parse('{"__proto__": "x", "constructor": "y"}') as JsonObject },
    live: { data: {} },
    patch: { data: JSON.parse('{"__proto__": "x", "constructor": "y"}') as JsonObject },
  },
];

describe('the difference between a wish and what is there', () => {
  test.each(rows)('$it', ({ type, last = {}, wanted, live, patch }) => {
    expect(threeWayDifference({ last, wanted, live }, type)).toEqual(patch);
  });

  const applied = (live: JsonObject, patch: JsonObject, type: string | undefined): JsonObject =>
    (type === undefined
      ? applyMergePatch(live, patch)
      : applyStrategicPatch(live, patch, builtinSchema(type), resolveBuiltin)) as JsonObject;

  test.each(rows)('brings the live object to where nothing is left to do: $it', ({ type, last = {}, wanted, live }) => {
    const after = applied(live, threeWayDifference({ last, wanted, live }, type), type);
    expect(threeWayDifference({ last: wanted, wanted, live: after }, type)).toEqual({});
  });

  // ---- any Pod, with any previous configuration and any changes by other clients

  const text = fc.constantFrom('x', 'y', 'z');
  const env = fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: text }), {
    selector: (e) => e.name,
  });
  const container = fc.record(
    { name: fc.constantFrom('a', 'b', 'c', 'd'), image: text, env, args: fc.array(text, { maxLength: 3 }) },
    { requiredKeys: ['name'] },
  );
  const labels = fc.dictionary(fc.constantFrom('k', 'l', 'm'), text, { maxKeys: 3 });
  const anyPod = fc.record(
    {
      metadata: fc.record({ labels, finalizers: fc.uniqueArray(text) }, { requiredKeys: [] }),
      spec: fc.record(
        {
          containers: fc.uniqueArray(container, { selector: (e) => e.name, maxLength: 4 }),
          volumes: fc.uniqueArray(
            fc.oneof(
              fc.record({ name: text, emptyDir: fc.constant({}) }),
              fc.record({ name: text, configMap: fc.record({ name: text }) }),
            ),
            { selector: (e) => e.name },
          ),
          nodeSelector: labels,
          hostNetwork: fc.boolean(),
        },
        { requiredKeys: ['containers'] },
      ),
    },
    { requiredKeys: ['metadata', 'spec'] },
  ) as unknown as fc.Arbitrary<JsonObject>;

  test.each([{ type: POD }, { type: undefined }])(
    'one patch is enough, and takes nothing that others added ($type)',
    ({ type }) => {
      fc.assert(
        fc.property(anyPod, anyPod, anyPod, (last, wanted, live) => {
          const after = applied(live, threeWayDifference({ last, wanted, live }, type), type);
          expect(threeWayDifference({ last: wanted, wanted, live: after }, type)).toEqual({});
          const labelsOf = (object: Json | undefined) =>
            ((object as JsonObject | undefined)?.['metadata'] as JsonObject | undefined)?.['labels'] as
              | JsonObject
              | undefined;
          for (const [key, value] of Object.entries(labelsOf(live) ?? {})) {
            if (key in (labelsOf(last) ?? {}) || key in (labelsOf(wanted) ?? {})) continue;
            expect(labelsOf(after)?.[key]).toBe(value);
          }
        }),
      );
    },
  );
});
