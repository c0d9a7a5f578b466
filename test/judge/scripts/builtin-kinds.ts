// One object of every built-in kind that can be stored, through its life. Defaults in depth are tested beside the code; here it is the wire.
import { readFileSync } from 'node:fs';
import { builtinKinds } from '../../../src/api/builtin/kinds.ts';
import { type Script, script } from '../script.ts';

interface Stored {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string };
}

const fixtures = new URL('../../../src/apiserver/builtin/fixtures/defaults.json', import.meta.url);
const NAMESPACE = 'builtin-kinds';
const text = readFileSync(fixtures, 'utf8').replaceAll('flotilla-capture', NAMESPACE);
const inputs = (JSON.parse(text) as readonly { readonly input: Stored }[]).map((each) => each.input);

const more: readonly Stored[] = [
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'bk-cidr' },
    spec: { cidrs: ['10.200.0.0/24'] },
  } as Stored,
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name: '10.200.0.7' },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'x' } },
  } as Stored,
  { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'bk.example.com' }, spec: {} } as Stored,
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'claim' },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'bk.example.com' } }] } },
  } as Stored,
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name: 'template' },
    spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'bk.example.com' } }] } } },
  } as Stored,
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 'bk-slice' },
    spec: {
      driver: 'bk.example.com',
      nodeName: 'n',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'd' }],
    },
  } as Stored,
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name: 'bk-vac' },
    driverName: 'd.example.com',
    parameters: { a: '1' },
  } as Stored,
];

const n = `-n ${NAMESPACE}`;

/** Names that must have a certain form stay. */
const ownName = new Set(['IPAddress', 'CSIDriver', 'CSINode', 'DeviceClass']);

/** Their refusals show Go structs: `go-structs` in docs/known-differences.md. */
const refusedInGo = new Set(['Pod', 'Job']);

/** These would keep the Pod out. */
const isLimit = (kind: string) => kind === 'LimitRange' || kind === 'ResourceQuota';

const parts = [
  ...builtinKinds.filter(({ kind }) => !isLimit(kind)),
  ...builtinKinds.filter(({ kind }) => isLimit(kind)),
]
  .filter(({ kind, verbs }) => verbs.includes('list') && verbs.includes('create') && kind !== 'APIService')
  .flatMap((kind) => {
    const apiVersion = kind.group === '' ? kind.versions[0] : `${kind.group}/${kind.versions[0]}`;
    const sample = [...inputs, ...more].find((input) => input.kind === kind.kind && input.apiVersion === apiVersion);
    if (!sample) return [];
    const { namespace: _elsewhere, ...metadata } = sample.metadata;
    const name = ownName.has(kind.kind) ? metadata.name : `bk-${metadata.name.replace(/^bk-/, '')}`;
    const full = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
    const place = kind.namespaced ? { namespace: NAMESPACE } : {};
    return [{ kind, at: `${full}/${name}`, object: { ...sample, metadata: { ...metadata, name, ...place } } }];
  });

/** One object of every kind, in another namespace and under other names. */
export const builtinObjects = (namespace: string, prefix: string): readonly Stored[] =>
  parts.map(({ kind, object }) => ({
    ...(JSON.parse(JSON.stringify(object).replaceAll(NAMESPACE, namespace)) as Stored),
    metadata: {
      ...object.metadata,
      name: ownName.has(kind.kind) ? object.metadata.name : object.metadata.name.replace(/^bk-/, prefix),
      ...(kind.namespaced ? { namespace } : {}),
    },
  }));

/** Kinds whose objects are here. */
export const sampled: readonly string[] = parts.map(({ kind }) => kind.kind);

const all = parts.map(({ at }) => at).join(' ');
/** `flow-control`: a real server writes the status of a FlowSchema by itself, at some moment. */
const settled = parts.filter(({ kind }) => kind.kind !== 'FlowSchema');
const withStatus = parts.filter(({ kind }) => kind.hasStatus);
const documents = (of: typeof parts) => of.map(({ object }) => JSON.stringify(object)).join('\n---\n');
const input = documents(parts);

export const builtinKindsScript: Script = script('builtin-kinds', [
  `create ns ${NAMESPACE}`,
  { run: 'apply -f -', input },
  { run: 'apply -f -', input },
  { run: 'diff -f -', input },
  { run: 'apply -f - --dry-run=server', input },
  ...settled.map(({ at }) => `get ${at} ${n}`),
  `get ${settled.map(({ at }) => at).join(' ')} ${n} -o wide`,
  ...settled.map(({ at }) => `get ${at} ${n} -o yaml`),
  `label ${all} ${n} wire=yes`,
  { run: `patch -f - --type=merge -p '{"metadata":{"annotations":{"wire":"yes"}}}'`, input },
  { run: `patch -f - --type=strategic -p '{"metadata":{"labels":{"wire":null}}}'`, input },
  {
    run: `patch -f - --subresource=status --type=merge -p '{"status":{}}'`,
    input: documents(withStatus),
  },
  ...settled.map(({ at }) => `describe ${at} ${n}`),
  { run: 'replace -f -', input: documents(parts.filter(({ kind }) => !refusedInGo.has(kind.kind))) },
  `delete ${all} ${n} --wait=false`,
  `delete ns ${NAMESPACE} --timeout=60s`,
]);
