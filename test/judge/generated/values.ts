// Values for fields of built-in types: mostly such as people write, at times odd, seldom of another type altogether.
import { type FieldFact, jsonFields, type TypeFact } from '../../../src/api/builtin/facts.ts';
import type { Dice } from './dice.ts';

/** Deeper than this a struct is empty. */
const DEPTH = 3;

const ODD_TEXTS = ['', 'Odd Text', '-x', 'a/b/c', 'x'.repeat(64), 'x.y', '7'] as const;
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  name: ['web', 'side', 'data', 'http', 'web', 'web'],
  namespace: ['default', 'judge'],
  image: ['web:1', 'web', 'web:latest', ' web:1', 'web@sha256:abc', 'Web:1'],
  mountPath: ['/data', 'data', '/data/../x', '/a:b'],
  path: ['/healthz', 'data', '../x', '/'],
  subPath: ['a', '../a', '/a'],
  clusterIP: ['None', 'x', ''],
  externalName: ['example.com', 'example.com.', 'Not a name'],
  topologyKey: ['kubernetes.io/hostname', 'zone'],
  key: ['app', 'a.txt', 'example.com/key'],
  operator: ['Exists', 'Equal', 'In', 'NotIn', 'DoesNotExist', 'Gt'],
  effect: ['NoSchedule', 'NoExecute', 'PreferNoSchedule'],
  fieldPath: ['metadata.name', "metadata.labels['a']", 'spec.nodeName', 'metadata.nothing'],
  resource: ['limits.cpu', 'requests.memory', 'pods'],
  serviceName: ['web', 'Web'],
  schedule: ['*/5 * * * *', '@hourly', '* * *', 'TZ=UTC * * * * *'],
  timeZone: ['Etc/UTC', 'Nowhere/Town', ''],
  ip: ['10.1.2.3', 'x', '::1', '127.0.0.1'],
  kind: ['ClusterRole', 'Role', 'User', 'Group', 'ServiceAccount', 'Deployment'],
  apiGroup: ['rbac.authorization.k8s.io', '', 'apps'],
  apiVersion: ['v1', 'apps/v1'],
  restartPolicy: ['Always', 'Never', 'OnFailure'],
  protocol: ['TCP', 'UDP', 'SCTP', 'tcp'],
  type: ['Opaque', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'RollingUpdate', 'OnDelete', 'Recreate'],
};
const NUMBERS = [0, 1, 2, 5, 80, 443, 600, -1, 65536, 30080, 100, 101] as const;
const QUANTITIES = ['1', '100m', '1Gi', '500M', '0', '-1', '1.5', '0.0001', 'lots', '1e3', 2] as const;
const LABELS: readonly Readonly<Record<string, string>>[] = [
  {},
  { app: 'web' },
  { app: 'web', tier: 'front' },
  { 'example.com/a': 'b' },
  { 'a b': 'c' },
  { a: 'not ok!' },
  { '': 'x' },
];
const RESOURCES: readonly Readonly<Record<string, unknown>>[] = [
  { cpu: '1' },
  { cpu: '100m', memory: '64Mi' },
  { cpu: '2', memory: '1Gi' },
  { 'example.com/gpu': '1' },
  { 'ephemeral-storage': '1Gi' },
  { cpu: '-1' },
  { cpu: 'lots' },
  { pods: '1' },
  { 'hugepages-2Mi': '4Mi' },
];

/** How a value comes about: what it is for, and how deep inside of what. */
interface Place {
  readonly field: string;
  readonly depth: number;
}

export function someValue(type: TypeFact, place: Place, dice: Dice): unknown {
  if (dice.chance(2)) return dice.pick([7, 'text', true, [], {}, ['x'], { a: 1 }, null]);
  switch (type.form) {
    case 'scalar':
      return scalarOf(type, place, dice);
    case 'list':
      return Array.from({ length: dice.pick([0, 1, 1, 1, 2]) }, () => someValue(type.of, place, dice));
    case 'map':
      return mapOf(type.of, place, dice);
    case 'special':
      return specialOf(type.special, dice);
    case 'struct':
      return structOf(type.name, place, dice);
  }
}

function scalarOf(type: Extract<TypeFact, { form: 'scalar' }>, { field }: Place, dice: Dice): unknown {
  switch (type.scalar) {
    case 'bool':
      return dice.chance(50);
    case 'bytes':
      return dice.pick(['YQ==', '', 'e30=', 'not base64']);
    case 'string':
      if (type.values !== undefined && dice.chance(80)) return dice.pick(type.values);
      return dice.chance(20) ? dice.pick(ODD_TEXTS) : dice.pick(TEXTS[field] ?? ['web', 'x', 'a-b']);
    default:
      return dice.pick(NUMBERS);
  }
}

function mapOf(of: TypeFact, place: Place, dice: Dice): unknown {
  if (of.form === 'special' && of.special === 'Quantity') return dice.pick(RESOURCES);
  if (of.form === 'scalar' && of.scalar === 'string') return dice.pick(LABELS);
  return Object.fromEntries([[dice.pick(['a', 'a.txt', 'Bad key', '']), someValue(of, place, dice)]]);
}

function specialOf(special: string, dice: Dice): unknown {
  switch (special) {
    case 'Quantity':
      return dice.pick(QUANTITIES);
    case 'IntOrString':
      return dice.pick([0, 1, 80, '25%', '100%', '120%', 'http', -1, '', '0%', 'Bad Name']);
    case 'Time':
      return dice.pick(['2026-01-01T00:00:00Z', null, 'yesterday']);
    case 'MicroTime':
      return dice.pick(['2026-01-01T00:00:00.000001Z', null, 'yesterday']);
    default:
      return dice.pick([{}, { a: 1 }]);
  }
}

/** Fields that must be there mostly are; others now and then. */
function structOf(name: string, { depth }: Place, dice: Dice): unknown {
  const result: Record<string, unknown> = {};
  for (const field of jsonFields(name).filter(isWanted(name))) {
    const likely =
      field.required || field.name === 'name' ? 85 : depth >= DEPTH ? 0 : 100 / (jsonFields(name).length + 2);
    if (dice.chance(likely)) result[field.name] = someValue(field.type, { field: field.name, depth: depth + 1 }, dice);
  }
  return result;
}

/**
 * `rare-fields`: what is not judged, because ours takes it as it comes. Kinds of volumes that nobody here can mount, what concerns a node and
 * its kernel, devices, and features that are off by default.
 */
export const RARE: ReadonlySet<string> = new Set([
  ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'csi', 'fc', 'flexVolume', 'flocker'],
  ...[
    'gcePersistentDisk',
    'gitRepo',
    'glusterfs',
    'iscsi',
    'nfs',
    'photonPersistentDisk',
    'portworxVolume',
    'projected',
  ],
  ...['quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume', 'Volume.image'],
  ...[
    'ephemeralContainers',
    'podAffinity',
    'podAntiAffinity',
    'topologySpreadConstraints',
    'securityContext',
    'overhead',
  ],
  ...[
    'resourceClaims',
    'claims',
    'PodSpec.resources',
    'resizePolicy',
    'hostUsers',
    'hostPID',
    'hostIPC',
    'os',
    'dnsConfig',
  ],
  ...['shareProcessNamespace', 'setHostnameAsFQDN', 'workloadRef', 'hostnameOverride', 'runtimeClassName'],
  ...['stopSignal', 'volumeDevices', 'mountPropagation', 'recursiveReadOnly', 'fileKeyRef', 'restartPolicyRules'],
  ...['podFailurePolicy', 'successPolicy', 'dataSource', 'dataSourceRef', 'volumeAttributesClassName', 'ordinals'],
  ...['matchFields', 'sleep', 'ownerReferences'],
]);

const OWNED_BY_SERVER: ReadonlySet<string> = new Set([
  'status',
  'managedFields',
  'selfLink',
  'resourceVersion',
  'nodePort',
  'healthCheckNodePort',
]);

/** Whether a field of a type is filled in, changed, or left out. */
export const isWanted =
  (type: string) =>
  ({ name }: FieldFact): boolean =>
    !RARE.has(name) && !RARE.has(`${type.split('.').at(-1)}.${name}`) && !OWNED_BY_SERVER.has(name);
