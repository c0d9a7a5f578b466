// Values that servers fill into entries of atomic lists: they are not a difference, and everything else is.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { placeOf, someone, testCluster } from '../../apiserver/builtin/cluster.testing.ts';
import { objectIn } from '../../apiserver/represent.ts';
import { create } from '../../apiserver/verbs/create.ts';
import { isObject, type JsonObject, mutableCopy } from '../../base/json.ts';
import { groupVersionOf, type KubeObject } from '../object.ts';
import { jsonFields, type TypeFact } from './facts.ts';
import { threeWayDifference } from './three-way.ts';
import { typeNameOf } from './types.ts';

interface Pair {
  readonly input: KubeObject;
  readonly stored: KubeObject;
}

const typeOf = ({ apiVersion, kind }: KubeObject): string => {
  const { group, version } = groupVersionOf(apiVersion);
  return typeNameOf(group, version, kind) as string;
};

function content(object: KubeObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, status: _status, ...rest } = object;
  return rest as JsonObject;
}

const difference = ({ input, stored }: Pair): JsonObject =>
  threeWayDifference({ last: content(input), wanted: content(input), live: content(stored) }, typeOf(input));

const nameOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;

const captured = JSON.parse(
  readFileSync(new URL('../../apiserver/builtin/fixtures/defaults.json', import.meta.url), 'utf8'),
) as readonly Pair[];

/** For these a server stores additional fields, or drops some, for reasons other than list entries. */
const OTHERWISE: readonly string[] = [
  'Secret opaque',
  'Secret tls',
  'Service external-ips',
  'Pod large',
  'Node node-cidr',
];

// ---- cases that the captured objects lack

const downward = { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] };
const cpu = { items: [{ path: 'a', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } }] };
const volumes = [
  { name: 'd', downwardAPI: downward },
  { name: 'c', downwardAPI: cpu },
  {
    name: 'p',
    projected: { sources: [{ serviceAccountToken: { path: 't' } }, { downwardAPI: downward }, { downwardAPI: cpu }] },
  },
];
const template = {
  metadata: { labels: { app: 'a' } },
  spec: { restartPolicy: 'Never', volumes, containers: [{ name: 'c', image: 'c:1' }] },
};
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const more: readonly KubeObject[] = [
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'failing' },
    spec: {
      template,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    },
  },
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'claim' },
    spec: {
      devices: {
        requests: [
          { name: 'one', exactly: { deviceClassName: 'a' } },
          { name: 'all', exactly: { deviceClassName: 'a', allocationMode: 'All' } },
          { name: 'either', firstAvailable: [{ name: 'b', deviceClassName: 'b' }] },
        ],
      },
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'policy' },
    spec: {
      matchConstraints: { resourceRules: [rule], excludeResourceRules: [rule] },
      validations: [{ expression: 'true' }],
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'both' },
    spec: {
      podSelector: {},
      ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }, {}] }],
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 'web' }] }],
    },
  },
] as readonly KubeObject[];

async function storedBy(input: KubeObject): Promise<Pair> {
  const cluster = testCluster();
  const namespace = 'shop';
  const put = async (object: KubeObject) => {
    const at = placeOf(cluster, object, namespace);
    return objectIn(at.resource, at.version, (await create(cluster, at, mutableCopy(object), someone)).stored);
  };
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return { input, stored: await put(input) };
}

// ---- changes inside of such entries

/** Copies of a value, each with one additional field inside an entry of an atomic list. */
function* changed(value: unknown, type: TypeFact, isInside = false): Generator<unknown> {
  if (Array.isArray(value) && type.form === 'list') {
    for (const [index, item] of value.entries())
      for (const each of changed(item, type.of, isInside)) yield value.with(index, each);
  } else if (isObject(value) && type.form === 'map') {
    if (isInside) yield { ...value, added: 'x' };
  } else if (isObject(value) && type.form === 'struct') {
    if (isInside) yield { ...value, added: 'x' };
    for (const field of jsonFields(type.name)) {
      const isWhole = field.type.form === 'list' && !field.patchStrategy?.includes('merge');
      for (const each of changed(value[field.name], field.type, isInside || isWhole))
        yield { ...value, [field.name]: each };
    }
  }
}

describe('what a server fills into entries of lists', () => {
  test.each(
    captured
      .filter(({ input }) => !OTHERWISE.includes(nameOf(input)))
      .map((pair) => ({ ...pair, name: nameOf(pair.input) })),
  )('is no difference: $name, as a real server stores it', (pair) => expect(difference(pair)).toEqual({}));

  test.each(more.map((input) => ({ input, name: nameOf(input) })))('is no difference: $name', async ({ input }) => {
    expect(difference(await storedBy(input))).toEqual({});
  });

  test('is all: any field more is a difference', async () => {
    let count = 0;
    for (const { input, stored } of [...captured, ...(await Promise.all(more.map(storedBy)))]) {
      const wanted = content(stored);
      for (const live of changed(wanted, { form: 'struct', name: typeOf(input) })) {
        count += 1;
        const patch = threeWayDifference({ last: wanted, wanted, live: live as JsonObject }, typeOf(input));
        expect({ [nameOf(input)]: patch }).not.toEqual({ [nameOf(input)]: {} });
      }
    }
    expect(count).toBeGreaterThan(100);
  });
});
