// PUT: the whole object, or its status, scale or finalizers.
import { notFound } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import type { At, Caller, Written } from './call.ts';
import { change, checkName, checkRevision, checkUid } from './change.ts';
import { createDecoded, takeNamespace } from './create.ts';
import { decodeBody, toStored } from './decode.ts';
import { finalizeNamespace } from './finalize.ts';
import { findHead } from './head.ts';
import { checkMayCreate } from './may-create.ts';
import { updateScale } from './scale.ts';

export async function update(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written> {
  const { resource, name = '' } = at;
  if (at.subresource === 'scale') return updateScale(cluster, at, body, caller);
  const draft = toStored(at, decodeBody(at, body, caller));
  checkName(at, draft);
  takeNamespace(at, draft);
  const old = findHead(cluster, at);
  if (!old) {
    if (!resource.behaviour.createOnUpdate || at.subresource !== undefined) throw notFound(resource, name);
    checkMayCreate(cluster, at, caller);
    return createDecoded(cluster, at, draft, caller);
  }
  checkUid(at, draft, old);
  checkRevision(at, draft, old);
  if (at.subresource === 'finalize') return finalizeNamespace(cluster, at, draft, old, caller);
  return change(cluster, at, draft, old, caller);
}
