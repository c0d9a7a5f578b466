// The Work on the hub, as one reconcile writes it: every write is conditional on the last state seen, and its response
// becomes the last state seen.
import { fieldManagers } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';
import { type Work, type WorkStatus, work } from '../../api/work.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual, type Json } from '../../base/json.ts';
import type { WorkerClient } from '../../runtime/controller.ts';

export interface HubWork {
  readonly now: Work;
  setFinalizers(finalizers: readonly string[]): Promise<void>;
  /** `always` sends an equal status, too: a successful conditional write proves that the Work has not changed. */
  report(status: WorkStatus, always?: 'always'): Promise<void>;
}

export function hubWork(client: WorkerClient, seen: Work): HubWork {
  let now = seen;

  async function patch(body: object, subresource?: 'status'): Promise<void> {
    const { name = '', namespace = '', uid, resourceVersion } = now.metadata;
    const { metadata = {}, ...rest } = body as { readonly metadata?: ObjectMeta };
    const at = { resource: work, namespace, name };
    try {
      const answer = await client.call('hub', {
        verb: 'patch',
        at: subresource === undefined ? at : { ...at, subresource },
        patch: { type: 'merge', body: { ...rest, metadata: { ...metadata, uid, resourceVersion } } as unknown as Json },
        manager: fieldManagers.apply,
      });
      now = answer.object as Work;
    } catch (error) {
      // The live read refreshes the cache, so the retry sees the change that caused the conflict.
      if (error instanceof ApiError && error.reason === 'Conflict') await client.call('hub', { verb: 'get', at });
      throw error;
    }
  }

  return {
    get now() {
      return now;
    },
    setFinalizers: (finalizers) => patch({ metadata: { finalizers } }),
    async report(status, always) {
      const isSaid = Object.entries(status).every(([key, value]) =>
        deepEqual(value, now.status?.[key as keyof WorkStatus]),
      );
      if (!isSaid || always === 'always') await patch({ status }, 'status');
    },
  };
}
