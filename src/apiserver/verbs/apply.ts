// PATCH with an applied configuration: server-side apply. A manager sends all fields that it wants to own; the server
// merges them, removes those that the manager has given up, and rejects conflicts with other managers, unless forced.
import { conflict, invalid, invalidValue, notFound } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { objectIn } from '../represent.ts';
import { appliedTo } from './applied.ts';
import type { At, Caller, Written } from './call.ts';
import { change, checkName, checkRevision } from './change.ts';
import { createDecoded, takeNamespace } from './create.ts';
import { decodePatched, toStored } from './decode.ts';
import { findHead } from './head.ts';
import { checkMayCreate } from './may-create.ts';
import type { Patch } from './patched.ts';

export async function applyConfig(cluster: Cluster, at: At, asked: Patch, caller: Caller): Promise<Written> {
  const { resource, name = '' } = at;
  const old = findHead(cluster, at);
  if (!old && at.subresource !== undefined) throw notFound(resource, name);
  const now = cluster.clock.now();
  const live = old && objectIn(resource, at.version, old);
  const { object, managedFields } = appliedTo({
    at,
    live,
    config: asked.body,
    force: asked.force === true,
    caller,
    now,
  });
  const draft = toStored(at, decodePatched(at, object, asked, caller));
  checkName(at, draft);
  takeNamespace(at, draft);
  const { uid } = draft.metadata;
  if (!old) {
    if (uid) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource, name, why);
    }
    checkMayCreate(cluster, at, caller);
    return createDecoded(cluster, at, draft, caller, managedFields);
  }
  checkRevision(at, draft, old);
  if (uid !== undefined && uid !== old.object().metadata.uid) {
    throw invalid(resource, name, [invalidValue('metadata.uid', uid, 'field is immutable')]);
  }
  return change(cluster, at, draft, old, caller, managedFields);
}
