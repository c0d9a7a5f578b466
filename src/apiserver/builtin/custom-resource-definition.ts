// CustomResourceDefinitions for the registry; their special behavior is in schema/.
import type { Behaviour } from '../registry.ts';
import { crdBehaviour } from '../schema/crd-behaviour.ts';
import { KEEPS_METADATA } from '../status-keeps.ts';
import { specOf } from './behaviour.ts';

export const customResourceDefinition: Behaviour = {
  ...crdBehaviour,
  statusKeeps: KEEPS_METADATA,
  default(draft) {
    // Validation rejects a CRD without versions later; until then the list is empty.
    specOf<{ versions?: unknown[] | null }>(draft).versions ??= [];
    crdBehaviour.default?.(draft);
  },
};
