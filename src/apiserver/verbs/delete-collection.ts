// DELETE of a collection: deletes each object of a list individually.
import { ApiError } from '../../base/errors.ts';
import { mapLimit } from '../../base/map-limit.ts';
import type { Cluster } from '../cluster.ts';
import type { Stored } from '../store/store.ts';
import type { At, Caller, DeleteOptions, ListOptions } from './call.ts';
import { remove } from './delete.ts';
import { list } from './list.ts';

const SIDE_BY_SIDE = 64;

export async function deleteCollection(
  cluster: Cluster,
  at: At,
  options: ListOptions & DeleteOptions,
  caller: Caller,
): Promise<readonly Stored[]> {
  const { items } = await list(cluster, at, options);
  await mapLimit(items, SIDE_BY_SIDE, async (stored) => {
    const { name, namespace = '' } = stored.object().metadata;
    try {
      await remove(cluster, { ...at, namespace, name: name as string }, options, caller);
    } catch (error) {
      // Another client deleted it first: the object is as requested.
      if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
    }
  });
  return items;
}
