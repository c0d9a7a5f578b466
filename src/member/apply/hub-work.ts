// The Work on the hub, as a pass writes to it: every write fits only the state that was seen, and its answer is what is seen from then on.
import { fieldManagers } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';
import { type Work, type WorkStatus, work } from '../../api/work.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual, type Json } from '../../base/json.ts';
import type { WorkerClient } from '../../runtime/controller.ts';

export interface HubWork {
  readonly now: Work;
  setFinalizers(finalizers: readonly string[]): Promise<void>;
  /** Sent even if it says nothing new, if told so: that it fits proves that this is still the newest order. */
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
      // So that the next pass, which follows at once, sees what was in the way.
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
