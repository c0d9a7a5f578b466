// GET of one object.
import { noSuchResource, notFound } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { keyIn } from '../resource-key.ts';
import type { Stored } from '../store/store.ts';
import type { At } from './call.ts';
import { readScale } from './scale.ts';

export function get(cluster: Cluster, at: At): Stored {
  const { resource, namespace, name = '' } = at;
  const stored = cluster.store.get(keyIn(resource, namespace, name));
  if (!stored) throw notFound(resource, name);
  if (at.subresource === undefined || at.subresource === 'status') return stored;
  if (at.subresource === 'scale') return readScale(resource, stored);
  throw noSuchResource();
}
