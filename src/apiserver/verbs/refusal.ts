// A refusal rests on what a crash cannot undo, as an answer does. Writers are judged by what is pending, so "already exists", "modified" and "not
// found" may be known before readers can see why: told at once, they would send a client to look, find nothing new and try the same again.
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
