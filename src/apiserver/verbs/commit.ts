// The last step of every write. A response is sent after the write is durable and visible.
import { modified, objectTooLarge } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { unsaved } from '../represent.ts';
import { ObjectTooLarge, RevisionMismatch, type Stored, type Write } from '../store/store.ts';
import type { At, Caller } from './call.ts';

/** The default request limit of etcd. */
export const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;
/** The deletionTimestamp and finalizers need space, or an object of the maximum size could not be deleted. */
const DELETION_BYTES = 1024;

const maxBytesOf = ({ value }: Write): number =>
  MAX_OBJECT_BYTES + (value?.metadata.deletionTimestamp === undefined ? 0 : DELETION_BYTES);

/** Writes; a dry run only returns the result: a changed object keeps its revision, because no new one is used. */
export async function commit(cluster: Cluster, at: At, write: Write, caller: Caller): Promise<Stored> {
  if (caller.dryRun) return wouldBe(cluster, write);
  try {
    const committed = cluster.store.commit({ ...write, maxBytes: maxBytesOf(write) });
    await committed.durable;
    return committed.stored;
  } catch (error) {
    if (error instanceof RevisionMismatch) throw modified(at.resource, at.name ?? '');
    if (error instanceof ObjectTooLarge) throw objectTooLarge();
    throw error;
  }
}

function wouldBe(cluster: Cluster, { key, expect, value }: Write): Stored {
  if (value === undefined) return cluster.store.get(key, 'head') as Stored;
  if (expect === 'absent') return unsaved(key, value);
  return unsaved(key, { ...value, metadata: { ...value.metadata, resourceVersion: String(expect) } });
}

/**
 * Nothing is written, because the object already is as requested. The response waits until that is durable, like any
 * other.
 */
export async function unchanged(cluster: Cluster, old: Stored): Promise<Stored> {
  await cluster.store.durable(old.key);
  return old;
}
