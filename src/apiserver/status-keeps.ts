// Which metadata a write to /status does not change.
import type { MetadataField, StatusKeeps } from './registry.ts';

/** All metadata that clients may write. */
export const METADATA_FIELDS: readonly MetadataField[] = ['labels', 'annotations', 'finalizers', 'ownerReferences'];
export const KEEPS_METADATA: StatusKeeps = { fields: METADATA_FIELDS };
export const KEEPS_OWNED_METADATA: StatusKeeps = { fields: METADATA_FIELDS, areOwned: true };
