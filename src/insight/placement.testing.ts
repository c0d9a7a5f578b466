// Short constructors of placements, bindings and related objects for tests.
import type { Binding } from '../api/binding.ts';
import type { Condition } from '../api/conditions.ts';
import type { HoldEntry } from '../api/holds.ts';
import { labels } from '../api/names.ts';
import type { Placement, PlacementSpec } from '../api/placement.ts';
import type { ClusterPlacementState } from '../api/placement-state.ts';
import type { Clock } from '../base/clock.ts';

export const NOW = Date.parse('2026-01-01T12:00:00Z');
export const BEFORE = '2026-01-01T11:55:00Z';
/** A clock that stays at NOW. */
export const still: Clock = { now: () => NOW, at: () => () => {} };

const STEPS = ['Scheduled', 'RolloutStarted', 'Overridden', 'WorkSynchronized', 'Applied', 'Available'];

/**
 * One letter per step from Scheduled on: T, F, U. With blanks, the steps have explicit types: `Scheduled:T
 * DiffReported:F`.
 */
export function conditions(said: string, prefix = '', generation = 2): readonly Condition[] {
  const parts = said.includes(':')
    ? said.split(' ').map((part) => part.split(':') as [string, string])
    : [...said].map((letter, at) => [STEPS[at] as string, letter] as [string, string]);
  return parts.map(([type, letter]) => ({
    type: `${prefix}${type}`,
    status: letter === 'T' ? 'True' : letter === 'F' ? 'False' : 'Unknown',
    reason: letter === 'T' ? 'Fine' : 'NotFine',
    message: letter === 'T' ? '' : `${type} is not reached`,
    observedGeneration: generation,
    lastTransitionTime: BEFORE,
  }));
}

export const cluster = (
  clusterName: string,
  said: string,
  more: Partial<ClusterPlacementState> = {},
): ClusterPlacementState => ({
  clusterName,
  observedResourceIndex: '1',
  conditions: conditions(said) as Condition[],
  ...more,
});

export interface PlacementParts {
  readonly said?: string;
  readonly clusters?: readonly ClusterPlacementState[];
  readonly holds?: readonly HoldEntry[];
  readonly spec?: Partial<PlacementSpec>;
  readonly metadata?: Placement['metadata'];
  /** The addition to the message of Scheduled. */
  readonly note?: string;
  /** Nothing is selected. */
  readonly isEmpty?: true;
}

export function aPlacement(parts: PlacementParts = {}): Placement {
  const { said = 'TTTTTT', clusters = [], holds, spec, metadata, note, isEmpty } = parts;
  const kind = metadata?.namespace === undefined ? 'ClusterResourcePlacement' : 'ResourcePlacement';
  return {
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind,
    metadata: { name: 'web', generation: 2, ...metadata },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
      policy: { placementType: 'PickAll' },
      ...spec,
    } as PlacementSpec,
    status: {
      conditions: conditions(said, kind).map((each, at) =>
        at === 0 && note !== undefined ? { ...each, message: `found all: 1; ${note}` } : each,
      ) as Condition[],
      observedResourceIndex: '1',
      ...(isEmpty ? {} : { selectedResources: [{ version: 'v1', kind: 'Namespace', name: 'shop' }] }),
      placementStatuses: [...clusters],
      ...(holds === undefined ? {} : { holds: [...holds] }),
    },
  };
}

export const budgetUsed = (culprit: string, waiting: readonly string[], count = waiting.length): HoldEntry => ({
  code: 'BudgetUsed',
  on: { group: 'cluster.kubernetes-fleet.io', kind: 'MemberCluster', name: culprit },
  facts: { cause: 'failed', message: 'no Pod is ready', ready: 2, minAvailable: 2 },
  since: BEFORE,
  next: `fix the failure on cluster "${culprit}", or raise maxUnavailable`,
  count,
  clusters: [...waiting],
});

export const failed = (message: string) => ({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  condition: {
    type: 'Available',
    status: 'False' as const,
    reason: 'ManifestNotAvailableYet',
    message,
    observedGeneration: 1,
    lastTransitionTime: BEFORE,
  },
});

/** `said` from RolloutStarted on, for the present generation. */
export const aBinding = (
  target: string,
  said: string,
  {
    index = 1,
    more = {},
    namespace,
  }: { readonly index?: number; readonly more?: object; readonly namespace?: string } = {},
): Binding => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: namespace === undefined ? 'ClusterResourceBinding' : 'ResourceBinding',
  metadata: {
    name: `web-${target}-1`,
    labels: { [labels.parentPlacement]: 'web' },
    ...(namespace === undefined ? {} : { namespace }),
  },
  spec: {
    state: 'Bound',
    targetCluster: target,
    resourceSnapshotName: `web-${index}-snapshot`,
    schedulingPolicySnapshotName: 'web-0',
    clusterDecision: { clusterName: target, selected: true, reason: 'picked' },
  },
  status: { conditions: conditions(`T${said}`, '', 1).slice(1) as Condition[], ...more },
});
