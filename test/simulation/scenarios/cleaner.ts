// Replaces the work generator where nothing is placed: a deleted binding needs no clean-up.
import { finalizers } from '../../../src/api/names.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import type { HubBinding } from '../../../src/hub/placement-sources.ts';
import { patch, seen } from '../../../src/runtime/actions.ts';
import { keyOf, partsOf } from '../../../src/runtime/cache.ts';
import type { Controller } from '../../../src/runtime/controller.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import type { Stop } from '../../../src/sim/world.ts';

export const cleanerActor =
  (family: PlacementFamily) =>
  (deps: Deps): Stop => {
    const manager = startManager(deps, { controllers: [cleaner(family)] });
    return () => manager.stop();
  };

const cleaner = ({ bindings }: PlacementFamily): Controller<HubBinding> => ({
  name: 'cleaner',
  eventSource: 'cleaner',
  watches: [{ source: bindings, toKeys: ({ metadata }) => [keyOf(metadata.namespace, metadata.name ?? '')] }],
  observe(view, key) {
    const { name, namespace } = partsOf(key);
    const binding = view.get(bindings, name, namespace);
    const isCleanable =
      binding?.metadata.deletionTimestamp !== undefined &&
      (binding.metadata.finalizers ?? []).includes(finalizers.workCleanup);
    return isCleanable ? binding : undefined;
  },
  decide(binding) {
    const rest = (binding.metadata.finalizers ?? []).filter((each) => each !== finalizers.workCleanup);
    const change = patch(seen(bindings, binding), { metadata: { finalizers: rest } }, 'nothing was placed');
    return { steps: [[change]], holds: [], because: 'nothing was placed' };
  },
});
