// The last step of every write. What a caller is answered is durable and visible.

import type { KubeObject } from '../../api/object.ts';
import { modified } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';
import type { Cluster } from '../cluster.ts';
import { unsaved } from '../represent.ts';
import { RevisionMismatch, type Stored, StoreUnavailable, type Write } from '../store/store.ts';
import type { At, Caller } from './call.ts';

/** Writes, or on a dry run only shows what would have been written. */
export async function commit(cluster: Cluster, at: At, write: Write, caller: Caller): Promise<Stored> {
  if (caller.dryRun) return unsaved(write.key, write.value as KubeObject);
  try {
    const committed = cluster.store.commit(write);
    await committed.durable;
    return committed.stored;
  } catch (error) {
    if (error instanceof RevisionMismatch) throw modified(at.resource, at.name ?? '');
    if (error instanceof StoreUnavailable) throw storeError(error);
    throw error;
  }
}

export const storeError = (error: StoreUnavailable): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${error.message}`, undefined, { cause: error });
