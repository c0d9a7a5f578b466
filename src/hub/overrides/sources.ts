// The cached overrides and their snapshots. Both are small and few: at most 100 in the fleet, or in a namespace.
import type { Resource } from '../../api/kind.ts';
import { labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { override } from '../../api/override.ts';
import { overrideSnapshot } from '../../api/override-snapshot.ts';
import { keyOf } from '../../runtime/cache.ts';
import type { Source } from '../../runtime/controller.ts';
import { only } from '../only.ts';
import type { HubOverride, HubOverrideSnapshot, Override } from './matching.ts';

interface Spec {
  readonly placement?: NonNullable<Override['placement']>;
  readonly clusterResourceSelectors?: Override['selectors'];
  readonly resourceSelectors?: Override['selectors'];
  readonly policy?: { readonly overrideRules?: Override['rules'] };
}

const meaningOf = (spec: Spec): Omit<Override, 'metadata'> => ({
  ...(spec.placement === undefined ? {} : { placement: spec.placement }),
  selectors: spec.clusterResourceSelectors ?? spec.resourceSelectors ?? [],
  rules: spec.policy?.overrideRules ?? [],
  spec,
});

const overrideSource = (resource: Resource): Source<HubOverride> => ({
  on: 'hub',
  resource,
  project: ({ metadata, spec = {} }: KubeObject) => ({
    metadata: only(metadata, 'generation', 'creationTimestamp', 'deletionTimestamp', 'finalizers'),
    resource,
    ...meaningOf(spec as Spec),
  }),
});

/** Index: `override`, the key of its override. */
const snapshotSource = (resource: Resource): Source<HubOverrideSnapshot> => ({
  on: 'hub',
  resource,
  project({ metadata, spec }: KubeObject) {
    const { overrideSpec = {} } = (spec ?? {}) as { readonly overrideSpec?: Spec };
    const index = metadata.labels?.[labels.overrideIndex] ?? '';
    return {
      metadata: only(metadata, 'creationTimestamp', 'deletionTimestamp', 'labels'),
      override: metadata.labels?.[labels.parentOverride] ?? '',
      index: /^\d{1,9}$/.test(index) ? Number(index) : -1,
      ...meaningOf(overrideSpec),
    };
  },
  indexes: { override: ({ metadata, override: of }) => [keyOf(metadata.namespace, of)] },
});

export const clusterOverrides = overrideSource(override.cluster);
export const namespacedOverrides = overrideSource(override.namespaced);
export const clusterOverrideSnapshots = snapshotSource(overrideSnapshot.cluster);
export const namespacedOverrideSnapshots = snapshotSource(overrideSnapshot.namespaced);

/** The override kinds of one scope. */
export interface OverrideFamily {
  readonly overrides: Source<HubOverride>;
  readonly snapshots: Source<HubOverrideSnapshot>;
}

export const overrideFamilies: readonly OverrideFamily[] = [
  { overrides: clusterOverrides, snapshots: clusterOverrideSnapshots },
  { overrides: namespacedOverrides, snapshots: namespacedOverrideSnapshots },
];

export const snapshotsIn = (namespace: string | undefined): Source<HubOverrideSnapshot> =>
  namespace === undefined ? clusterOverrideSnapshots : namespacedOverrideSnapshots;
