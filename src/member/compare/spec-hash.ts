// The part of a manifest that is compared, and its hash: `kubernetes-fleet.io/spec-hash`.
// The hash is byte-compatible with KubeFleet's; otherwise the first reconcile after a migration would treat every
// manifest as changed.
import type { KubeObject, Labels } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';
import { isObject } from '../../base/json.ts';
import { createLru } from '../../base/lru.ts';

/**
 * Cached by the manifest's JSON, because most manifests of a new generation are unchanged, and other members in this
 * process get the same ones.
 */
const known = createLru<string, string>(256);
const MAX_REMEMBERED = 16 * 1024;

export function specHash(manifest: KubeObject): string {
  const text = JSON.stringify(manifest);
  const before = known.get(text);
  if (before !== undefined) return before;
  const hash = sha256(goJson(comparable(manifest)));
  if (text.length <= MAX_REMEMBERED) known.set(text, hash);
  return hash;
}

const OURS = ['kubernetes.io/', 'k8s.io/', 'kubernetes-fleet.io/'];

const META_DROPPED = new Set([
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generateName',
  'generation',
  'name',
  'namespace',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** A copy without the fields that the cluster, Kubernetes or Flotilla sets. */
export function comparable(object: KubeObject): KubeObject {
  const { status: _status, ...rest } = object;
  const metadata = {
    ...without(rest.metadata, META_DROPPED),
    annotations: others(rest.metadata.annotations),
    labels: others(rest.metadata.labels),
    finalizers: [],
    managedFields: [],
    ownerReferences: [],
  };
  const stripped = TEMPLATES.reduce((value, path) => withoutCreation(value, path), rest.spec);
  return { ...rest, metadata, ...(stripped === undefined ? {} : { spec: stripped }) } as KubeObject;
}

/** Go clients write the creationTimestamp of a template as null. */
const TEMPLATES = [
  ['template', 'metadata'],
  ['jobTemplate', 'spec', 'template', 'metadata'],
];

function withoutCreation(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (!isObject(value)) return value;
  if (first === undefined) {
    const { creationTimestamp: _creationTimestamp, ...kept } = value;
    return kept;
  }
  if (!Object.hasOwn(value, first)) return value;
  return { ...value, [first]: withoutCreation(value[first], rest) };
}

const without = (value: object, dropped: ReadonlySet<string>): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !dropped.has(key)));

const others = (labels: Labels | undefined): Labels =>
  Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !isUnhashed(key)));

/** A label or annotation that is left out. */
export const isUnhashed = (key: string): boolean => OURS.some((part) => key.includes(part));
