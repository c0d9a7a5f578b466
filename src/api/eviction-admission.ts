// Validation of evictions and disruption budgets against their placement, which a schema cannot express. Pure.
import type { DisruptionBudgetSpec } from './disruption-budget.ts';
import type { EvictionSpec, EvictionStatus } from './eviction.ts';
import type { AdmitQuestion, AdmitRead, AdmitRequest, Admitted, FieldCause, Resource } from './kind.ts';
import type { KubeObject } from './object.ts';
import type { Placement } from './placement.ts';
import { invalidValue } from './status.ts';

/** Not imported from the definition of the kind, because that would be a circular import. */
const PLACEMENTS: Resource = {
  group: 'placement.kubernetes-fleet.io',
  version: 'v1beta1',
  kind: 'ClusterResourcePlacement',
  plural: 'clusterresourceplacements',
  namespaced: false,
};

const isJudged = ({ verb, subresource }: AdmitQuestion<unknown, unknown>): boolean =>
  verb !== 'delete' && subresource === undefined;

const admitted = ({ object, old }: AdmitQuestion<unknown, unknown>, warnings: readonly string[] = []): Admitted => ({
  ok: true,
  object: (object ?? old) as KubeObject,
  warnings,
});

const refused = (...causes: readonly FieldCause[]): Admitted => ({ ok: false, causes });

const typeOf = (placement: Placement | undefined): string => placement?.spec?.policy?.placementType ?? 'PickAll';

// ---- evictions

type OfEviction = AdmitQuestion<EvictionSpec, EvictionStatus>;

export const evictionReads = (request: OfEviction): readonly AdmitRead[] =>
  isJudged(request) && request.verb === 'create'
    ? [{ resource: PLACEMENTS, name: request.object?.spec?.placementName ?? '' }]
    : [];

/**
 * Differs from KubeFleet: there an eviction of a PickFixed placement is denied, which stops the drain of all other
 * placements.
 */
export function admitEviction(request: AdmitRequest<EvictionSpec, EvictionStatus>): Admitted {
  if (!isJudged(request) || request.verb !== 'create') return admitted(request);
  const name = request.object?.spec?.placementName ?? '';
  const placement = request.lookup.get(PLACEMENTS, name) as Placement | undefined;
  if (placement === undefined) return admitted(request);
  if (placement.metadata.deletionTimestamp !== undefined) {
    const why = `ClusterResourcePlacement "${name}" is being deleted and removes its resources from all clusters`;
    return refused(invalidValue('spec.placementName', name, why));
  }
  return admitted(
    request,
    typeOf(placement) === 'PickFixed'
      ? [
          `ClusterResourcePlacement "${name}" has placementType PickFixed: the eviction will be invalid; remove the cluster from spec.policy.clusterNames instead`,
        ]
      : [],
  );
}

// ---- disruption budgets

type OfBudget = AdmitQuestion<DisruptionBudgetSpec, unknown>;

export const budgetReads = (request: OfBudget): readonly AdmitRead[] =>
  isJudged(request) ? [{ resource: PLACEMENTS, name: request.object?.metadata.name ?? '' }] : [];

export function admitBudget(request: AdmitRequest<DisruptionBudgetSpec, unknown>): Admitted {
  if (!isJudged(request)) return admitted(request);
  const { name = '' } = request.object?.metadata ?? {};
  const { maxUnavailable, minAvailable } = request.object?.spec ?? {};
  const placement = request.lookup.get(PLACEMENTS, name) as Placement | undefined;
  const whose = `ClusterResourcePlacement "${name}"`;
  const empty =
    maxUnavailable === undefined && minAvailable === undefined
      ? ['spec sets neither maxUnavailable nor minAvailable: the budget blocks every eviction']
      : [];
  if (placement === undefined) return admitted(request, empty);
  switch (typeOf(placement)) {
    case 'PickFixed':
      return admitted(request, [
        `${whose} has placementType PickFixed: it cannot be evicted, so the budget has no effect`,
      ]);
    case 'PickAll':
      if (maxUnavailable !== undefined) {
        const why = `${whose} has placementType PickAll, which has no number of clusters: set minAvailable to a number`;
        return refused(invalidValue('spec.maxUnavailable', maxUnavailable, why));
      }
      if (typeof minAvailable === 'string') {
        const why = `${whose} has placementType PickAll, which has no number of clusters: a percentage has no meaning, set a number`;
        return refused(invalidValue('spec.minAvailable', minAvailable, why));
      }
  }
  return admitted(request, empty);
}
