// Envelopes of all three kinds, and the objects in them. Pure; results are cached per object.
import { byText } from '../base/compare.ts';
import { canonicalJson, deepFreeze, isObject } from '../base/json.ts';
import { isNamespaced } from './builtin/facts.ts';
import { typeNameOf } from './builtin/types.ts';
import { isEnvelopeConfigMap, objectsInConfigMap } from './envelope-config-map.ts';
import { groupVersionOf, type KubeObject, refText } from './object.ts';
import { identifierOf, type ResourceIdentifier } from './selected-resource.ts';

export type EnvelopeType = NonNullable<ResourceIdentifier['envelope']>['type'];

export interface Entry {
  readonly key: string;
  readonly object: KubeObject;
}

export interface Enveloped {
  readonly type: EnvelopeType;
  readonly name: string;
  readonly namespace?: string;
  /** Sorted by their JSON, descending, so that the Work of an unchanged envelope does not change. */
  readonly entries: readonly Entry[];
}

const GROUP = 'placement.kubernetes-fleet.io';
const KINDS: readonly string[] = ['ClusterResourceEnvelope', 'ResourceEnvelope'];

export const isEnvelopeKind = ({ group = '', kind }: Pick<ResourceIdentifier, 'group' | 'kind'>): boolean =>
  group === GROUP && KINDS.includes(kind);

const known = new WeakMap<KubeObject, { readonly envelope: Enveloped | undefined }>();

/** undefined = the object is not an envelope. */
export function envelopeIn(object: KubeObject): Enveloped | undefined {
  const before = known.get(object);
  if (before !== undefined) return before.envelope;
  const envelope = read(object);
  if (Object.isFrozen(object)) known.set(object, { envelope });
  return envelope;
}

function read(object: KubeObject): Enveloped | undefined {
  const { apiVersion, kind, metadata } = object;
  const isOfKind = isEnvelopeKind({ group: groupVersionOf(apiVersion).group, kind });
  if (!isOfKind && !isEnvelopeConfigMap(object)) return undefined;
  const data = isOfKind
    ? ((object as { readonly data?: Readonly<Record<string, unknown>> }).data ?? {})
    : objectsInConfigMap(object);
  const entries = Object.entries(data)
    .map(([key, value]) => ({ key, object: deepFreeze(value) as KubeObject, json: canonicalJson(value) }))
    .toSorted((a, b) => byText(b.json, a.json) || byText(a.key, b.key));
  return {
    type: (isOfKind ? kind : 'ConfigMap') as EnvelopeType,
    name: metadata.name ?? '',
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    entries: entries.map(({ key, object: each }) => ({ key, object: each })),
  };
}

/** The first entry that breaks a rule about scope or namespace. `within`: namespace of the placement, if it has one. */
export function brokenRuleIn(envelope: Enveloped, within?: string): string | undefined {
  for (const { key, object } of envelope.entries) {
    const problem = problemOf(envelope, object, within);
    if (problem !== undefined) return `${envelopeText(envelope)}, entry "${key}": ${problem}`;
  }
  return undefined;
}

export const envelopeText = ({ type, name, namespace }: Omit<Enveloped, 'entries'>): string =>
  refText({ kind: type, name, ...(namespace === undefined ? {} : { namespace }) });

function problemOf({ type, namespace: own = '' }: Enveloped, object: unknown, within?: string): string | undefined {
  // The agent reports entries that are not objects, and applies the others.
  if (!isObject(object) || !isObject(object['metadata'])) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { group, version } = groupVersionOf(typeof apiVersion === 'string' ? apiVersion : '');
  if (typeof kind === 'string' && isEnvelopeKind({ group, kind })) return 'an envelope cannot contain another envelope';
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : '';
  const scope = scopeOf(group, version, kind);
  if (type === 'ClusterResourceEnvelope') {
    const rule = 'a ClusterResourceEnvelope contains cluster-scoped objects only';
    if (namespace !== '') return `it is in namespace "${namespace}"; ${rule}`;
    return scope === 'Namespaced' ? `${kind} is a namespaced kind; ${rule}` : undefined;
  }
  const mayBeWide = type === 'ConfigMap' && within === undefined;
  if (namespace === own)
    return scope === 'Cluster' ? `${kind} is a cluster-scoped kind and must not have a namespace` : undefined;
  if (mayBeWide && namespace === '' && scope !== 'Namespaced') return undefined;
  const has = namespace === '' ? 'it has no namespace' : `it is in namespace "${namespace}"`;
  const why =
    type === 'ConfigMap' && !mayBeWide ? ' (a ResourcePlacement places objects of its own namespace only)' : '';
  return `${has}; only objects of namespace "${own}" are allowed${why}`;
}

/** Scope of a built-in kind; undefined = another kind, whose scope only the members know. */
function scopeOf(group: string, version: string, kind: unknown): 'Cluster' | 'Namespaced' | undefined {
  const type = typeof kind === 'string' ? typeNameOf(group, version, kind) : undefined;
  const namespaced = type === undefined ? undefined : isNamespaced(type);
  return namespaced === undefined ? undefined : namespaced ? 'Namespaced' : 'Cluster';
}

/** The objects of an envelope as a status names them; entries without a name are omitted. */
export function innerIdentifiers(object: KubeObject): readonly ResourceIdentifier[] {
  const envelope = envelopeIn(object);
  if (envelope === undefined) return [];
  const { type, name, namespace } = envelope;
  return envelope.entries.flatMap(({ object: inner }) =>
    isNamed(inner)
      ? [
          {
            ...identifierOf(inner),
            envelope: { name, ...(namespace === undefined ? {} : { namespace }), type },
          },
        ]
      : [],
  );
}

/**
 * The objects that clusters get: an envelope is replaced by the objects in it. Entries that are not objects are
 * omitted.
 */
export const unwrapped = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.flatMap((each) => {
    const envelope = envelopeIn(each);
    return envelope === undefined ? [each] : envelope.entries.map(({ object }) => object).filter(isNamed);
  });

/** An entry of an envelope can be any JSON value. */
export const isNamed = (object: unknown): boolean =>
  isObject(object) &&
  typeof object['apiVersion'] === 'string' &&
  typeof object['kind'] === 'string' &&
  isObject(object['metadata']) &&
  typeof object['metadata']['name'] === 'string';
