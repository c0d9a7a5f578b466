// A manifest without the fields that belong to another cluster, or that a server fills in.
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';

const ANNOTATIONS_DROPPED: readonly string[] = [
  annotations.specHash,
  annotations.metadataHash,
  annotations.lastApplied,
  annotations.takenOver,
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
];

/** Only the fields that the author set, without those that a cluster fills in. */
export function sanitised(manifest: KubeObject): KubeObject {
  const { status: _status, ...rest } = manifest;
  const {
    creationTimestamp: _creationTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    deletionTimestamp: _deletionTimestamp,
    generation: _generation,
    managedFields: _managedFields,
    ownerReferences: _ownerReferences,
    resourceVersion: _resourceVersion,
    selfLink: _selfLink,
    uid: _uid,
    annotations: written,
    ...metadata
  } = rest.metadata;
  const kept = Object.fromEntries(Object.entries(written ?? {}).filter(([key]) => !ANNOTATIONS_DROPPED.includes(key)));
  return {
    ...withPlainData(rest as KubeObject),
    metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) },
  };
}

/** A server stores a Secret's stringData as data, so the comparison needs it there. */
function withPlainData(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object;
  if (object.apiVersion !== 'v1' || object.kind !== 'Secret' || !isObject(stringData)) return object;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    typeof value === 'string' ? Buffer.from(value).toString('base64') : value,
  ]);
  const { data } = rest;
  return { ...rest, data: { ...(isObject(data) ? data : {}), ...Object.fromEntries(encoded) } } as KubeObject;
}
