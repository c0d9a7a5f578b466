// CustomResourceDefinitions as the registry wants them; what is special about them is in schema/.
import type { Behaviour } from '../registry.ts';
import { crdBehaviour } from '../schema/crd-behaviour.ts';
import { KEEPS_METADATA } from '../status-keeps.ts';
import { specOf } from './behaviour.ts';

export const customResourceDefinition: Behaviour = {
  ...crdBehaviour,
  statusKeeps: KEEPS_METADATA,
  default(draft) {
    // No versions are refused later; until then there are none rather than nothing.
    specOf<{ versions?: unknown[] | null }>(draft).versions ??= [];
    crdBehaviour.default?.(draft);
  },
};
