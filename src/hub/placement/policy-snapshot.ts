// The policy snapshot for the scheduler: a new one if the policy changes what it picks, else the latest, annotated with
// the generation of the placement and with N. Guarantee: after any interruption, exactly one is the latest in the end.
import { annotations, labels, policySnapshotName } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { create, patch, remove, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubPolicySnapshot,
  isLatest,
  policyIndexOf,
} from '../placement-sources.ts';
import { DEFAULT_HISTORY_LIMIT, expired, nextIndex } from '../revisions/history.ts';
import { newestOf, snapshotMetadata } from '../revisions/snapshot-metadata.ts';
import { policyHashOf } from './policy-hash.ts';

export interface PolicyInput {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly snapshots: readonly HubPolicySnapshot[];
  readonly bindings: readonly HubBinding[];
}

export const latestPolicy = (snapshots: readonly HubPolicySnapshot[]): HubPolicySnapshot | undefined =>
  newestOf(snapshots, policyIndexOf);

/** Steps in order; none if everything is up to date. */
export function policySteps({ family, placement, snapshots, bindings }: PolicyInput): readonly (readonly Action[])[] {
  const { policy, revisionHistoryLimit = DEFAULT_HISTORY_LIMIT } = placement.spec;
  const latest = latestPolicy(snapshots);
  const hash = policyHashOf(policy);
  const wanted = annotationsFor(placement);
  const demoted = snapshots.filter((each) => each !== latest && isLatest(each)).map((each) => demote(family, each));
  if (latest !== undefined && latest.spec.policyHash === hash) {
    const change = changeOf(latest, wanted);
    const gone = surplus({ snapshots, bindings, limit: revisionHistoryLimit });
    return [
      demoted,
      change === undefined ? [] : [patch(seen(family.policySnapshots, latest), change, 'the placement has changed')],
      // Demoting a snapshot changes its resourceVersion, so it is deleted in the next reconcile.
      demoted.length > 0
        ? []
        : gone.map((each) => remove(seen(family.policySnapshots, each), 'older than the history that is kept')),
    ];
  }
  const index = nextIndex(snapshots.map(policyIndexOf));
  return [
    [...demoted, ...(latest !== undefined && isLatest(latest) ? [demote(family, latest)] : [])],
    [create('hub', family.policySnapshot, objectFor(family, placement, index, hash), `policy ${index} differs`)],
  ];
}

function surplus({
  snapshots,
  bindings,
  limit,
}: Pick<PolicyInput, 'snapshots' | 'bindings'> & { readonly limit: number }): readonly HubPolicySnapshot[] {
  if (snapshots.length <= limit) return [];
  const referenced = new Set(bindings.map(({ spec }) => spec.schedulingPolicySnapshotName));
  const revisions = snapshots.map((each) => ({
    index: policyIndexOf(each) ?? -1,
    items: [each],
    isReferenced: referenced.has(each.metadata.name ?? ''),
  }));
  return expired(revisions, limit);
}

const demote = (family: PlacementFamily, snapshot: HubPolicySnapshot): Action =>
  patch(
    seen(family.policySnapshots, snapshot),
    { metadata: { labels: { [labels.isLatestSnapshot]: 'false' } } },
    'a newer one replaces it',
  );

/** N of PickN is an annotation, so that it can change without a new snapshot. */
function annotationsFor({ metadata, spec }: HubPlacement): Readonly<Record<string, string>> {
  const count = spec.policy?.placementType === 'PickN' ? spec.policy.numberOfClusters : undefined;
  return {
    [annotations.placementGeneration]: String(metadata.generation ?? 0),
    ...(count === undefined ? {} : { [annotations.numberOfClusters]: String(count) }),
  };
}

function changeOf(snapshot: HubPolicySnapshot, wanted: Readonly<Record<string, string>>): object | undefined {
  const live = snapshot.metadata.annotations ?? {};
  const changed = Object.entries(wanted).filter(([key, value]) => live[key] !== value);
  if (changed.length === 0 && isLatest(snapshot)) return undefined;
  return {
    metadata: {
      ...(changed.length === 0 ? {} : { annotations: Object.fromEntries(changed) }),
      ...(isLatest(snapshot) ? {} : { labels: { [labels.isLatestSnapshot]: 'true' } }),
    },
  };
}

const withoutCount = ({ numberOfClusters: _, ...policy }: PlacementPolicy): PlacementPolicy => policy;

const objectFor = (family: PlacementFamily, placement: HubPlacement, index: number, hash: string): KubeObject => ({
  apiVersion: apiVersionOf(family.policySnapshot.group, family.policySnapshot.version),
  kind: family.policySnapshot.kind,
  metadata: snapshotMetadata(family, placement, {
    name: policySnapshotName(placement.metadata.name ?? '', index),
    labels: { [labels.isLatestSnapshot]: 'true', [labels.policyIndex]: String(index) },
    annotations: annotationsFor(placement),
  }),
  spec: {
    ...(placement.spec.policy === undefined ? {} : { policy: withoutCount(placement.spec.policy) }),
    policyHash: hash,
  },
});
