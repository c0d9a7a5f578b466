// What the hub keeps in memory of overrides: whom they are about, not what they change.
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { override } from '../../api/override.ts';
import type { Source } from '../../runtime/controller.ts';
import { only } from '../only.ts';
import type { HubOverride } from './matching.ts';

const overrideSource = (resource: Resource, list: string): Source<HubOverride> => ({
  on: 'hub',
  resource,
  project({ metadata, spec }: KubeObject) {
    const { placement, [list]: selectors } = spec as Readonly<Record<string, unknown>>;
    return {
      metadata: only(metadata),
      resource,
      ...(placement === undefined ? {} : { placement: placement as NonNullable<HubOverride['placement']> }),
      selectors: (selectors ?? []) as HubOverride['selectors'],
    };
  },
});

export const clusterOverrides = overrideSource(override.cluster, 'clusterResourceSelectors');
export const namespacedOverrides = overrideSource(override.namespaced, 'resourceSelectors');
