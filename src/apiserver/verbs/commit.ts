// The last step of every write. What a caller is answered is durable and visible.
import { modified } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { unsaved } from '../represent.ts';
import { RevisionMismatch, type Stored, type Write } from '../store/store.ts';
import type { At, Caller } from './call.ts';

/** Writes, or on a dry run only shows what would have been written: a changed object at the revision it has, since none is used up. */
export async function commit(cluster: Cluster, at: At, write: Write, caller: Caller): Promise<Stored> {
  if (caller.dryRun) return wouldBe(cluster, write);
  try {
    const committed = cluster.store.commit(write);
    await committed.durable;
    return committed.stored;
  } catch (error) {
    if (error instanceof RevisionMismatch) throw modified(at.resource, at.name ?? '');
    throw error;
  }
}

function wouldBe(cluster: Cluster, { key, expect, value }: Write): Stored {
  if (value === undefined) return cluster.store.get(key, 'head') as Stored;
  if (expect === 'absent') return unsaved(key, value);
  return unsaved(key, { ...value, metadata: { ...value.metadata, resourceVersion: String(expect) } });
}

/** There is nothing to write: what is asked for stands there already. The answer waits until that is durable, like any other. */
export async function unchanged(cluster: Cluster, old: Stored): Promise<Stored> {
  await cluster.store.durable(old.key);
  return old;
}
