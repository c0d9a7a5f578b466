// What of a manifest counts when it is compared, and its hash: `kubernetes-fleet.io/spec-hash`. The hash is the same as KubeFleet's to the byte;
// else the first pass after a migration would take every manifest for a changed one.
import type { KubeObject, Labels } from '../../api/object.ts';
import { goJson } from '../../base/go-json.ts';
import { sha256 } from '../../base/hash.ts';
import { isObject } from '../../base/json.ts';

export const specHash = (manifest: KubeObject): string => sha256(goJson(comparable(manifest)));

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
