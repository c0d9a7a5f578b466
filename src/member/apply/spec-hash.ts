// What of a manifest counts when it is compared, and its hash: `kubernetes-fleet.io/spec-hash`. The hash is the same as KubeFleet's to the byte;
// else the first pass after a migration would take every manifest for a changed one.
import type { KubeObject, Labels } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';
import { isObject } from '../../base/json.ts';
import { createLru } from '../../base/lru.ts';

/** By the manifest's JSON: an order has mostly what the one before it had, and what others in this process are ordered. */
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

/** A copy with nothing that the cluster, Kubernetes or we put there. */
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

/** Typed programs write a template's creationTimestamp as null. */
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
  Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !OURS.some((part) => key.includes(part))));
