// Tables of volumes and their classes.
import type { KubeObject } from '../../../api/object.ts';
import { AGE, ageOf, boolean, integer, NAME, nameOf, table, text, wide } from './table.ts';

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const modesText = (modes: readonly string[] | undefined): string =>
  Object.keys(SHORT_MODES)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => SHORT_MODES[mode])
    .join(',');

const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class';

const classOf = (object: KubeObject, name: string | undefined): string =>
  object.metadata.annotations?.[OLD_CLASS] ?? name ?? '';

const phaseOf = (object: KubeObject, phase: string | undefined): string =>
  object.metadata.deletionTimestamp === undefined ? (phase ?? '') : 'Terminating';

interface Volume {
  readonly spec?: {
    readonly capacity?: { readonly storage?: string };
    readonly accessModes?: readonly string[];
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
  };
  readonly status?: { readonly phase?: string; readonly reason?: string };
}

const CAPACITY = text('Capacity', 'How much fits in.');
const MODES = text('Access Modes', 'How many nodes may mount it, and how.');
const CLASS = text('StorageClass', 'The class that it belongs to.');
const ATTRIBUTES = text('VolumeAttributesClass', 'The class of its attributes.');
const MODE = wide(text('VolumeMode', 'File system or block device.'));

export const persistentVolume = table<Volume>(
  [
    NAME,
    CAPACITY,
    MODES,
    text('Reclaim Policy', 'What happens when its claim is deleted.'),
    text('Status', 'Its phase.'),
    text('Claim', 'Who uses it.'),
    CLASS,
    ATTRIBUTES,
    text('Reason', 'Why it is in this phase.'),
    AGE,
    MODE,
  ],
  (object, now) => {
    const { spec, status } = object;
    return [
      nameOf(object),
      spec?.capacity?.storage ?? '0',
      modesText(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? '',
      phaseOf(object, status?.phase),
      spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`,
      classOf(object, spec?.storageClassName),
      spec?.volumeAttributesClassName ?? '<unset>',
      status?.reason ?? '',
      ageOf(object, now),
      spec?.volumeMode ?? '<unset>',
    ];
  },
);

interface Claim {
  readonly spec?: {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: { readonly storage?: string };
  };
}

export const persistentVolumeClaim = table<Claim>(
  [
    NAME,
    text('Status', 'Its phase.'),
    text('Volume', 'The volume that it got.'),
    CAPACITY,
    MODES,
    CLASS,
    ATTRIBUTES,
    AGE,
    MODE,
  ],
  (object, now) => {
    const { spec, status } = object;
    const isBound = Boolean(spec?.volumeName);
    return [
      nameOf(object),
      phaseOf(object, status?.phase),
      spec?.volumeName ?? '',
      isBound ? (status?.capacity?.storage ?? '0') : '',
      isBound ? modesText(status?.accessModes) : '',
      classOf(object, spec?.storageClassName),
      spec?.volumeAttributesClassName ?? '<unset>',
      ageOf(object, now),
      spec?.volumeMode ?? '<unset>',
    ];
  },
);

interface StorageClass {
  readonly provisioner?: string;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly allowVolumeExpansion?: boolean;
}

const IS_DEFAULT = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const storageClass = table<StorageClass>(
  [
    NAME,
    text('Provisioner', 'Who makes the volumes.'),
    text('ReclaimPolicy', 'What happens to a volume when its claim is deleted.'),
    text('VolumeBindingMode', 'When volumes are made.'),
    text('AllowVolumeExpansion', 'Whether volumes can grow.'),
    AGE,
  ],
  (object, now) => {
    const isDefault = IS_DEFAULT.some((each) => object.metadata.annotations?.[each] === 'true');
    return [
      isDefault ? `${nameOf(object)} (default)` : nameOf(object),
      object.provisioner ?? '',
      object.reclaimPolicy ?? 'Delete',
      object.volumeBindingMode ?? 'Immediate',
      object.allowVolumeExpansion ?? false,
      ageOf(object, now),
    ];
  },
);

interface Attachment {
  readonly spec?: {
    readonly attacher?: string;
    readonly nodeName?: string;
    readonly source?: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached?: boolean };
}

export const volumeAttachment = table<Attachment>(
  [
    NAME,
    { ...text('Attacher', 'The driver that attaches.'), format: 'name' },
    text('PV', 'The volume.'),
    text('Node', 'The node.'),
    boolean('Attached', 'Whether it is attached.'),
    AGE,
  ],
  (object, now) => [
    nameOf(object),
    object.spec?.attacher ?? '',
    object.spec?.source?.persistentVolumeName ?? '',
    object.spec?.nodeName ?? '',
    object.status?.attached ?? false,
    ageOf(object, now),
  ],
);

export const volumeAttributesClass = table<{ readonly driverName?: string }>(
  [NAME, text('DriverName', 'The driver that the attributes are for.'), AGE],
  (object, now) => [nameOf(object), object.driverName ?? '', ageOf(object, now)],
);

export const csiNode = table<{ readonly spec?: { readonly drivers?: readonly unknown[] } }>(
  [NAME, integer('Drivers', 'How many drivers run on the node.'), AGE],
  (object, now) => [nameOf(object), object.spec?.drivers?.length ?? 0, ageOf(object, now)],
);

interface Driver {
  readonly spec?: {
    readonly attachRequired?: boolean;
    readonly podInfoOnMount?: boolean;
    readonly storageCapacity?: boolean;
    readonly tokenRequests?: readonly { readonly audience?: string }[];
    readonly requiresRepublish?: boolean;
    readonly volumeLifecycleModes?: readonly string[];
  };
}

export const csiDriver = table<Driver>(
  [
    NAME,
    boolean('AttachRequired', 'Whether volumes must be attached first.'),
    boolean('PodInfoOnMount', 'Whether the driver receives information about the Pod.'),
    boolean('StorageCapacity', 'Whether the driver reports its capacity.'),
    text('TokenRequests', 'Audiences of the tokens that the driver gets.'),
    boolean('RequiresRepublish', 'Whether volumes are published again and again.'),
    text('Modes', 'Which lifecycles of volumes it supports.'),
    AGE,
  ],
  (object, now) => {
    const { spec } = object;
    return [
      nameOf(object),
      spec?.attachRequired ?? true,
      spec?.podInfoOnMount ?? false,
      spec?.storageCapacity ?? false,
      spec?.tokenRequests === undefined ? '<unset>' : spec.tokenRequests.map((each) => each.audience ?? '').join(','),
      spec?.requiresRepublish ?? false,
      spec?.volumeLifecycleModes?.join(',') || '<none>',
      ageOf(object, now),
    ];
  },
);
