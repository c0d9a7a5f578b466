// Errors of writers wait until the state they depend on is visible. Writes are checked against the head, so "already
// exists", "modified" and "not found" may precede what readers see: an immediate error would make a client read, find
// nothing new, and retry the same write.
import { ApiError } from '../../base/errors.ts';
import type { Cluster } from '../cluster.ts';
import { keyIn } from '../resource-key.ts';
import type { At } from './call.ts';

export const toldWhenVisible =
  <Rest extends readonly unknown[], T>(write: (cluster: Cluster, at: At, ...rest: Rest) => Promise<T>) =>
  async (cluster: Cluster, at: At, ...rest: Rest): Promise<T> => {
    try {
      return await write(cluster, at, ...rest);
    } catch (error) {
      const name = at.name ?? (error instanceof ApiError ? error.details?.name : undefined);
      if (name) await cluster.store.durable(keyIn(at.resource, at.namespace, name));
      throw error;
    }
  };
