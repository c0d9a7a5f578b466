// POST: a new object with a given or generated name.
import type { KubeObject } from '../../api/object.ts';
import { alreadyExists, badRequest } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { generatedName } from '../../base/names.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft } from '../registry.ts';
import { unsaved } from '../represent.ts';
import { keyIn } from '../resource-key.ts';
import { admit, checkNamespace, fillDefaults, writeContext } from './admit.ts';
import type { At, Caller, Written } from './call.ts';
import { commit } from './commit.ts';
import { decodeBody, toStored } from './decode.ts';
import { type ManagedFields, setManagedFields, trackedFields } from './field-owners.ts';
import { hasAny } from './metadata.ts';
import { createSubresource } from './subresources.ts';

const NAME_ATTEMPTS = 8;

export async function create(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written> {
  if (at.subresource !== undefined) return createSubresource(cluster, at, body, caller);
  const draft = toStored(at, decodeBody(at, body, caller));
  return createDecoded(cluster, at, draft, caller);
}

/** The same for a draft that is already decoded and in the storage version (a PUT that creates). */
export async function createDecoded(
  cluster: Cluster,
  at: At,
  draft: Draft,
  caller: Caller,
  applied?: ManagedFields,
): Promise<Written> {
  const { resource } = at;
  const context = writeContext(cluster, at, caller, 'create');
  takeNamespace(at, draft);
  if (resource.behaviour.answer) {
    fillDefaults(at, draft);
    const { now } = context;
    const owners = trackedFields({ at, before: undefined, next: draft, sent: undefined, caller, now });
    const answer = resource.behaviour.answer(draft, context);
    const metadata = { ...answer.metadata, ...(owners === undefined ? {} : { managedFields: owners }) };
    return { stored: unsaved('', { ...answer, metadata }), created: true };
  }
  const asked = draft.metadata.resourceVersion ?? '';
  const sent = draft.metadata.managedFields;
  const isGenerated = !draft.metadata.name && Boolean(draft.metadata.generateName);
  for (let attempt = 1; ; attempt++) {
    if (isGenerated) draft.metadata.name = generatedName(draft.metadata.generateName as string, cluster.random);
    const name = draft.metadata.name ?? '';
    checkNamespace(cluster, at, name);
    const key = keyIn(resource, at.namespace, name);
    const isTaken = cluster.store.get(key, 'head') !== undefined;
    if (isTaken && isGenerated && attempt < NAME_ATTEMPTS) continue;
    stampNew(cluster, at, draft, context.now);
    fillDefaults(at, draft, applied ? 'keep' : 'delete');
    setManagedFields(
      draft,
      applied ?? trackedFields({ at, before: undefined, next: draft, sent, caller, now: context.now }),
    );
    resource.behaviour.drop?.(draft);
    if (resource.custom && resource.hasStatus) delete draft.status;
    resource.behaviour.prepare?.(draft, undefined, context);
    const admitted = admit(at, draft, undefined, context);
    const value = admitted as KubeObject;
    // Validation errors are reported before AlreadyExists, and before a set resourceVersion.
    if (/^0*[1-9]\d*$/.test(asked)) {
      throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
    }
    if (isTaken) throw alreadyExists(resource, name);
    const stored = await commit(cluster, { ...at, name }, { key, expect: 'absent', value }, caller);
    return { stored, created: true };
  }
}

/** A body may omit its namespace, but not name another one. */
export function takeNamespace(at: At, draft: Draft): void {
  const { metadata } = draft;
  if (at.namespace === '') delete metadata.namespace;
  else if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = at.namespace;
  else if (metadata.namespace !== at.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Sets the metadata of a new object that only the server may set. */
function stampNew(cluster: Cluster, at: At, draft: Draft, now: number): void {
  const { name, generateName, namespace, generation, labels, annotations, finalizers, ownerReferences } =
    draft.metadata;
  draft.metadata = {
    name,
    ...(generateName ? { generateName } : {}),
    ...(namespace ? { namespace } : {}),
    uid: cluster.random.uuid(),
    ...(at.resource.behaviour.countsGeneration ? { generation: 1 } : generation ? { generation } : {}),
    creationTimestamp: kubeTime(now),
    ...(hasAny(labels) ? { labels } : {}),
    ...(hasAny(annotations) ? { annotations } : {}),
    ...(finalizers && finalizers.length > 0 ? { finalizers } : {}),
    ...(ownerReferences && ownerReferences.length > 0 ? { ownerReferences } : {}),
  };
}
