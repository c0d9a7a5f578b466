// PATCH: reads the newest object, changes it in memory and writes it as an update. There is no await in between, so a
// patch without a resourceVersion never conflicts.

import { invalid, invalidValue, noSuchResource } from '../../api/status.ts';
import { deepEqual, type Json } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import { objectIn } from '../represent.ts';
import { applyConfig } from './apply.ts';
import type { At, Caller, Written } from './call.ts';
import { change, checkName, checkRevision } from './change.ts';
import { unchanged } from './commit.ts';
import { takeNamespace } from './create.ts';
import { decodePatched, toStored } from './decode.ts';
import { headOf } from './head.ts';
import { checkPatchType, type Patch, patchedValue } from './patched.ts';
import { patchScale } from './scale.ts';

export async function patch(cluster: Cluster, at: At, asked: Patch, caller: Caller): Promise<Written> {
  const { resource, name = '' } = at;
  if (at.subresource !== undefined && at.subresource !== 'status' && at.subresource !== 'scale') throw noSuchResource();
  checkPatchType(at, asked);
  if (at.subresource === 'scale') return patchScale(cluster, at, asked, caller);
  if (asked.type === 'apply') return applyConfig(cluster, at, asked, caller);
  const old = headOf(cluster, at);
  const shown = objectIn(resource, at.version, old) as Json;
  const patched = patchedValue(at, shown, { ...asked, type: asked.type });
  // Clients often send such a patch to verify that an object has not changed.
  if (deepEqual(patched, shown)) return { stored: await unchanged(cluster, old), created: false };
  const draft = toStored(at, decodePatched(at, patched, asked, caller));
  checkName(at, draft);
  takeNamespace(at, draft);
  // A patch may contain a resourceVersion as a precondition; removing it means no precondition, which not every kind
  // allows.
  checkRevision(at, draft, old);
  const { uid } = old.object().metadata;
  if (draft.metadata.uid !== undefined && draft.metadata.uid !== uid) {
    throw invalid(resource, name, [invalidValue('metadata.uid', draft.metadata.uid, 'field is immutable')]);
  }
  return change(cluster, at, draft, old, caller);
}
