// DELETE: removes an object, or marks it if a finalizer, its kind or a grace period keeps it.
import type { KubeObject } from '../../api/object.ts';
import { conflict, invalid } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { mutableCopy } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, ServedResource } from '../registry.ts';
import { unsaved } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import { admitHere, writeContext } from './admit.ts';
import type { At, Caller, DeleteOptions } from './call.ts';
import { isFinished } from './change.ts';
import { commit, unchanged } from './commit.ts';
import { headOf } from './head.ts';
import { isSame } from './metadata.ts';

export interface Removed {
  readonly stored: Stored;
  /** False: it is only marked for deletion, and its finalizers must be removed. */
  readonly gone: boolean;
  /** The response is the object, not a Status. */
  readonly returnsObject: boolean;
}

export async function remove(cluster: Cluster, at: At, options: DeleteOptions, caller: Caller): Promise<Removed> {
  const { resource, name = '' } = at;
  const old = headOf(cluster, at);
  const before = old.object();
  checkPreconditions(resource, name, before, options);
  refuse(cluster, at, before, caller);

  const marked = mark(cluster, resource, before, options);
  if (isFinished(resource, marked)) {
    const stored = caller.dryRun
      ? unsaved(old.key, before)
      : await commit(cluster, at, { key: old.key, expect: old.revision, value: undefined }, caller);
    // A kind with a grace period returns the object with grace period 0.
    const shown = resource.behaviour.graceSeconds
      ? unsaved(old.key, { ...marked, metadata: { ...marked.metadata, resourceVersion: String(stored.revision) } })
      : stored;
    return { stored: shown, gone: true, returnsObject: resource.behaviour.returnsDeleted };
  }
  if (isSame(marked, before)) return { stored: await unchanged(cluster, old), gone: false, returnsObject: true };
  const stored = await commit(cluster, at, { key: old.key, expect: old.revision, value: marked }, caller);
  return { stored, gone: false, returnsObject: true };
}

export function checkPreconditions(
  { group, kind }: ServedResource,
  name: string,
  before: KubeObject,
  options: DeleteOptions,
): void {
  // Only here a real server prints the kind instead of the resource.
  const resource = { group, plural: kind };
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = before;
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      resource,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      resource,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Deletions that a kind forbids: required namespaces, members whose Services are in use. */
function refuse(cluster: Cluster, at: At, before: KubeObject, caller: Caller): void {
  const { resource } = at;
  resource.behaviour.refuseDelete?.(before, writeContext(cluster, at, caller, 'update'));
  const admitted = admitHere(cluster, resource, {
    verb: 'delete',
    dryRun: caller.dryRun,
    now: cluster.clock.now(),
    user: caller.user,
    old: before,
  });
  if (admitted?.ok === false) throw invalid(resource, at.name ?? '', admitted.causes);
  for (const warning of admitted?.warnings ?? []) caller.warn(warning);
}

/** The object after the deletion: with deletionTimestamp, and the finalizer of the propagation policy. */
function mark(cluster: Cluster, resource: ServedResource, before: KubeObject, options: DeleteOptions): KubeObject {
  const draft = mutableCopy(before) as Draft;
  const { metadata } = draft;
  setPropagation(draft, options.propagation);
  const grace = resource.behaviour.graceSeconds?.(before, options.graceSeconds) ?? 0;
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = kubeTime(cluster.clock.now() + grace * 1000);
    // A namespace waits for its content, not for a grace period.
    if (!resource.behaviour.markTerminating) metadata.deletionGracePeriodSeconds = grace;
    if (metadata.generation !== undefined) metadata.generation += 1;
    resource.behaviour.markTerminating?.(draft);
  } else if (grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    // A second deletion can only shorten the grace period, which began with the first.
    const began = Date.parse(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    metadata.deletionTimestamp = kubeTime(began + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  return draft as KubeObject;
}

function setPropagation(draft: Draft, propagation: DeleteOptions['propagation']): void {
  if (propagation === undefined) return;
  const others = (draft.metadata.finalizers ?? []).filter((each) => each !== 'orphan' && each !== 'foregroundDeletion');
  const wanted = propagation === 'Orphan' ? ['orphan'] : propagation === 'Foreground' ? ['foregroundDeletion'] : [];
  const finalizers = [...others, ...wanted];
  if (finalizers.length > 0) draft.metadata.finalizers = finalizers;
  else delete draft.metadata.finalizers;
}
