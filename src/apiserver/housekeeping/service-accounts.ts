// Creates a ServiceAccount `default` in every active namespace, because Pods are not admitted without one.
import type { Cluster } from '../cluster.ts';
import { keyOf, prefixOf } from '../store/store.ts';
import type { Loop } from './loop.ts';
import { createObject, headOf, namespaceKey, partsOf } from './objects.ts';

const NAMESPACES = prefixOf('', 'namespaces');
const ACCOUNTS = prefixOf('', 'serviceaccounts');

export const serviceAccounts = (cluster: Cluster): Loop => ({
  name: 'service accounts',
  notice({ key, deleted }, want) {
    if (key.startsWith(NAMESPACES)) {
      if (!deleted) want(partsOf(key).name);
    } else if (deleted && key.startsWith(ACCOUNTS) && key.endsWith('/default')) want(partsOf(key).namespace);
  },
  async work(namespace) {
    const stored = headOf(cluster, namespaceKey(namespace));
    const key = keyOf('', 'serviceaccounts', namespace, 'default');
    if (stored === undefined || stored.object().metadata.deletionTimestamp !== undefined) return;
    if (headOf(cluster, key) !== undefined) return;
    await createObject(cluster, key, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace },
    });
  },
});
