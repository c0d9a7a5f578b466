// PUT namespaces/<name>/finalize: the namespace controller removes its finalizer from a namespace that it has emptied.
import type { KubeObject } from '../../api/object.ts';
import { mutableCopy } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft } from '../registry.ts';
import { unsaved } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import type { At, Caller, Written } from './call.ts';
import { isFinished } from './change.ts';
import { commit } from './commit.ts';
import { isSame } from './metadata.ts';

export async function finalizeNamespace(
  cluster: Cluster,
  at: At,
  draft: Draft,
  old: Stored,
  caller: Caller,
): Promise<Written> {
  const next = mutableCopy(old.object()) as Draft;
  const finalizers = (draft.spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? [];
  next.spec = finalizers.length > 0 ? { finalizers } : {};
  const value = next as KubeObject;
  if (isFinished(at.resource, value)) {
    await commit(cluster, at, { key: old.key, expect: old.revision, value: undefined }, caller);
    return { stored: unsaved(old.key, value), created: false };
  }
  if (isSame(value, old.object())) return { stored: old, created: false };
  const stored = await commit(cluster, at, { key: old.key, expect: old.revision, value }, caller);
  return { stored, created: false };
}
