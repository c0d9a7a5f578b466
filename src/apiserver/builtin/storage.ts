// Volumes, claims, storage classes and CSI drivers.
import type { FieldCause } from '../../api/kind.ts';
import { forbiddenField, required, unsupportedValue } from '../../api/status.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual } from '../../base/json.ts';
import { qualifiedNameErrors } from '../../base/names.ts';
import type { Behaviour, Draft, WriteContext } from '../registry.ts';
import { KEEPS_METADATA } from '../status-keeps.ts';
import { prefixOf } from '../store/store.ts';
import { behaviour, specOf, startsWith } from './behaviour.ts';
import { accessModeCauses, claimSpecCauses } from './claim-spec.ts';
import type { ClaimSpec, Quantities } from './drafts.ts';
import { complaints, oneOf } from './field-checks.ts';

/** A finalizer keeps them while they are in use; housekeeping removes it. */
export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';
export const CLASS_PROTECTION = 'kubernetes.io/vac-protection';

function protect(draft: Draft, finalizer: string): void {
  const { finalizers = [] } = draft.metadata;
  if (!finalizers.includes(finalizer)) draft.metadata.finalizers = [...finalizers, finalizer];
}

// ---- PersistentVolume

interface VolumeSpec {
  capacity?: Quantities;
  accessModes?: string[];
  persistentVolumeReclaimPolicy?: string;
  volumeMode?: string;
  hostPath?: { path?: string; type?: string };
  [source: string]: unknown;
}

/** Fields of a volume's spec that are not a volume source. */
const NO_SOURCE: ReadonlySet<string> = new Set([
  ...['capacity', 'accessModes', 'claimRef', 'persistentVolumeReclaimPolicy', 'storageClassName', 'mountOptions'],
  ...['volumeMode', 'nodeAffinity', 'volumeAttributesClassName'],
]);

export const persistentVolume: Behaviour = behaviour({
  returnsDeleted: true,
  default(draft) {
    const spec = specOf<VolumeSpec>(draft);
    spec.persistentVolumeReclaimPolicy ||= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    if (spec.hostPath) spec.hostPath.type ??= '';
    const status = draft.status as { phase?: string } | undefined;
    draft.status = { ...status, phase: status?.phase || 'Pending' };
  },
  prepare(draft, old, { now }) {
    if (old === undefined) {
      draft.status = { phase: 'Pending', lastPhaseTransitionTime: kubeTime(now) };
      protect(draft, VOLUME_PROTECTION);
    }
  },
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as VolumeSpec;
    const sources = Object.keys(spec).filter((field) => !NO_SOURCE.has(field));
    const { capacity, accessModes = [], persistentVolumeReclaimPolicy: policy } = spec;
    const causes: FieldCause[] = accessModes.length === 0 ? [required('spec.accessModes')] : [];
    causes.push(...accessModeCauses('spec.accessModes', accessModes));
    if (capacity === undefined || Object.keys(capacity).length === 0) causes.push(required('spec.capacity'));
    if (!deepEqual(Object.keys(capacity ?? {}), ['storage'])) {
      causes.push(unsupportedValue('spec.capacity', capacity ?? null, ['storage']));
    }
    if (sources.length === 0) causes.push(required('spec', 'must specify a volume type'));
    sources.slice(1).forEach((source) => {
      causes.push(forbiddenField(`spec.${source}`, 'may not specify more than 1 volume type'));
    });
    causes.push(...oneOf('spec.persistentVolumeReclaimPolicy', policy, ['Delete', 'Recycle', 'Retain']));
    const [source = ''] = sources;
    if (
      old !== undefined &&
      source !== '' &&
      !deepEqual(spec[source], (old.spec as VolumeSpec | undefined)?.[source])
    ) {
      causes.push(
        forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'),
      );
    }
    return causes;
  },
});

// ---- PersistentVolumeClaim

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export const persistentVolumeClaim: Behaviour = behaviour({
  returnsDeleted: true,
  default(draft) {
    specOf<ClaimSpec>(draft).volumeMode ??= 'Filesystem';
    const status = draft.status as { phase?: string } | undefined;
    draft.status = { ...status, phase: status?.phase || 'Pending' };
  },
  prepare(draft, old, context) {
    startsWith(() => ({ phase: 'Pending' }))(draft, old, context);
    if (old !== undefined) return;
    protect(draft, CLAIM_PROTECTION);
    const spec = specOf<ClaimSpec>(draft);
    if (spec.storageClassName !== undefined) return;
    const chosen = defaultStorageClass(context);
    if (chosen !== undefined) spec.storageClassName = chosen;
  },
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as ClaimSpec;
    const causes: FieldCause[] = [...claimSpecCauses('spec', spec)];
    if (old === undefined) return causes;
    const fixed = ({ resources: _, volumeName, storageClassName, ...rest }: ClaimSpec) => ({
      ...rest,
      // Both may be set once.
      volumeName: ((old.spec ?? {}) as ClaimSpec).volumeName ? volumeName : undefined,
      storageClassName: ((old.spec ?? {}) as ClaimSpec).storageClassName === undefined ? undefined : storageClassName,
    });
    if (!deepEqual(fixed(spec), fixed((old.spec ?? {}) as ClaimSpec))) {
      const why =
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
      causes.push(forbiddenField('spec', why));
    }
    return causes;
  },
});

function defaultStorageClass({ cluster }: WriteContext): string | undefined {
  let chosen: { name: string; since: string } | undefined;
  for (const stored of cluster.store.range(prefixOf('storage.k8s.io', 'storageclasses')).items) {
    const { name = '', annotations, creationTimestamp: since = '' } = stored.object().metadata;
    if (annotations?.[DEFAULT_CLASS] === 'true' && (chosen === undefined || since > chosen.since)) {
      chosen = { name, since };
    }
  }
  return chosen?.name;
}

// ---- StorageClass

export const storageClass: Behaviour = behaviour({
  returnsDeleted: true,
  default(draft) {
    draft.reclaimPolicy ??= 'Delete';
    draft.volumeBindingMode ??= 'Immediate';
  },
  validate(object, old) {
    if (old !== undefined) {
      return ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']
        .filter((field) => !deepEqual(object[field], old[field]))
        .map((field) => forbiddenField(field, `updates to ${field} are forbidden.`));
    }
    const provisioner = (object.provisioner ?? '') as string;
    return [
      ...(provisioner === ''
        ? [required('provisioner')]
        : complaints('provisioner', provisioner, qualifiedNameErrors(provisioner.toLowerCase()))),
      ...oneOf('reclaimPolicy', object.reclaimPolicy as string, ['Delete', 'Retain']),
      ...oneOf('volumeBindingMode', object.volumeBindingMode as string, ['Immediate', 'WaitForFirstConsumer']),
    ];
  },
});

// ---- drivers

interface DriverSpec {
  attachRequired?: boolean;
  podInfoOnMount?: boolean;
  storageCapacity?: boolean;
  fsGroupPolicy?: string;
  volumeLifecycleModes?: string[];
  requiresRepublish?: boolean;
  seLinuxMount?: boolean;
}

export const csiDriver: Behaviour = behaviour({
  unconditionalUpdate: false,
  returnsDeleted: true,
  default(draft) {
    const spec = specOf<DriverSpec>(draft);
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
});

export const csiNode: Behaviour = behaviour({ unconditionalUpdate: false, returnsDeleted: true });
export const csiStorageCapacity: Behaviour = behaviour({ unconditionalUpdate: false });
export const volumeAttributesClass: Behaviour = behaviour({
  returnsDeleted: true,
  prepare(draft, old) {
    if (old === undefined) protect(draft, CLASS_PROTECTION);
  },
});

export const volumeAttachment: Behaviour = behaviour({
  statusKeeps: KEEPS_METADATA,
  unconditionalUpdate: false,
  returnsDeleted: true,
  prepare: startsWith(() => ({ attached: false })),
});
