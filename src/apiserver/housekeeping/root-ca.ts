// Creates a ConfigMap with the CA certificate in every active namespace, so that Pods can trust the API server. A
// changed copy is restored.
import { deepEqual } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import { keyOf, prefixOf } from '../store/store.ts';
import type { Loop } from './loop.ts';
import { createObject, headOf, namespaceKey, partsOf, replaceObject } from './objects.ts';

const NAME = 'kube-root-ca.crt';
const NAMESPACES = prefixOf('', 'namespaces');
const CONFIG_MAPS = prefixOf('', 'configmaps');
const DESCRIPTION = 'kubernetes.io/description';
const TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

export function rootCa(cluster: Cluster): Loop {
  const data = Object.freeze({ 'ca.crt': cluster.caCertificate });
  const annotations = Object.freeze({ [DESCRIPTION]: TEXT });
  return {
    name: 'root CA',
    notice({ key, deleted }, want) {
      if (key.startsWith(NAMESPACES)) {
        if (!deleted) want(partsOf(key).name);
      } else if (key.endsWith(`/${NAME}`) && key.startsWith(CONFIG_MAPS)) want(partsOf(key).namespace);
    },
    async work(namespace) {
      const parent = headOf(cluster, namespaceKey(namespace));
      if (parent === undefined || parent.object().metadata.deletionTimestamp !== undefined) return;
      const key = keyOf('', 'configmaps', namespace, NAME);
      const stored = headOf(cluster, key);
      if (stored === undefined) {
        const metadata = { name: NAME, namespace, annotations };
        await createObject(cluster, key, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
        return;
      }
      const object = stored.object();
      if (deepEqual(object.data, data) && object.metadata.annotations?.[DESCRIPTION] === TEXT) return;
      const metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } };
      await replaceObject(cluster, stored, { ...object, metadata, data });
    },
  };
}
