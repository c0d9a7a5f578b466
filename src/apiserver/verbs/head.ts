// The newest state of the object in the URL, for a write.
import { notFound } from '../../api/status.ts';
import type { Cluster } from '../cluster.ts';
import { keyIn } from '../resource-key.ts';
import type { Stored } from '../store/store.ts';
import type { At } from './call.ts';

export const findHead = (cluster: Cluster, { resource, namespace, name = '' }: At): Stored | undefined =>
  cluster.store.get(keyIn(resource, namespace, name), 'head');

export function headOf(cluster: Cluster, at: At): Stored {
  const stored = findHead(cluster, at);
  if (!stored) throw notFound(at.resource, at.name ?? '');
  return stored;
}
