// Keeps claims, volumes and volume attributes classes that are being deleted while they are in use: a claim while an
// unfinished Pod mounts it, a volume while it is bound, a class while a claim or a volume names it.
import type { KubeObject } from '../../api/object.ts';
import { CLAIM_PROTECTION, CLASS_PROTECTION, VOLUME_PROTECTION } from '../builtin/storage.ts';
import type { Cluster } from '../cluster.ts';
import { prefixOf } from '../store/store.ts';
import type { Loop } from './loop.ts';
import { headOf, mayMention, partsOf, release } from './objects.ts';

const CLAIMS = prefixOf('', 'persistentvolumeclaims');
const VOLUMES = prefixOf('', 'persistentvolumes');
const PODS = prefixOf('', 'pods');
const CLASSES = prefixOf('storage.k8s.io', 'volumeattributesclasses');

export function volumeProtection(cluster: Cluster): Loop {
  /** Claims that Pods use. */
  const held = new Set<string>();
  /** Classes that claims or volumes use. */
  const heldClasses = new Set<string>();
  return {
    name: 'volume protection',
    reset() {
      held.clear();
      heldClasses.clear();
    },
    notice({ key, stored, deleted, isOld }, want) {
      if (key.startsWith(CLAIMS) || key.startsWith(VOLUMES) || key.startsWith(CLASSES)) {
        if (!key.startsWith(CLASSES)) for (const each of heldClasses) want(each);
        if (deleted) {
          held.delete(key);
          heldClasses.delete(key);
        } else if (!isOld || mayMention(stored, 'deletionTimestamp')) {
          if (stored.object().metadata.deletionTimestamp !== undefined) want(key);
        }
      } else if (held.size > 0 && key.startsWith(PODS)) {
        const { namespace } = partsOf(key);
        for (const claim of held) if (partsOf(claim).namespace === namespace) want(claim);
      }
    },
    async work(key) {
      const stored = headOf(cluster, key);
      if (stored?.object().metadata.deletionTimestamp === undefined) return;
      const isClaim = key.startsWith(CLAIMS);
      const isClass = key.startsWith(CLASSES);
      if (isClaim ? isMounted(cluster, key) : isClass ? isNamed(cluster, key) : isBound(stored.object())) {
        if (isClaim) held.add(key);
        if (isClass) heldClasses.add(key);
        return;
      }
      held.delete(key);
      heldClasses.delete(key);
      await release(cluster, stored, isClaim ? CLAIM_PROTECTION : isClass ? CLASS_PROTECTION : VOLUME_PROTECTION);
    },
  };
}

const isBound = (volume: KubeObject): boolean => (volume.status as { phase?: string } | undefined)?.phase === 'Bound';

function isNamed(cluster: Cluster, classKey: string): boolean {
  const { name } = partsOf(classKey);
  return [CLAIMS, VOLUMES].some((prefix) =>
    cluster.store.range(prefix).items.some((stored) => {
      const { spec, status } = stored.object() as {
        spec?: { volumeAttributesClassName?: string };
        status?: { currentVolumeAttributesClassName?: string };
      };
      return spec?.volumeAttributesClassName === name || status?.currentVolumeAttributesClassName === name;
    }),
  );
}

function isMounted(cluster: Cluster, claimKey: string): boolean {
  const { namespace, name } = partsOf(claimKey);
  return cluster.store.range(prefixOf('', 'pods', namespace)).items.some((stored) => {
    const pod = stored.object();
    const { phase } = (pod.status ?? {}) as { phase?: string };
    if (phase === 'Succeeded' || phase === 'Failed') return false;
    const { volumes = [] } = (pod.spec ?? {}) as {
      volumes?: readonly { name?: string; persistentVolumeClaim?: { claimName?: string }; ephemeral?: object }[];
    };
    return volumes.some(
      (volume) =>
        volume.persistentVolumeClaim?.claimName === name ||
        (volume.ephemeral !== undefined && `${pod.metadata.name}-${volume.name}` === name),
    );
  });
}
