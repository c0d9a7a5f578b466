// Whose Work is this: of this binding, of another one, of a later generation of it, or of no hub at all. Pure.
import type { BindingReason } from '../../api/binding.ts';
import { annotations, labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { HubWork } from '../work-source.ts';
import type { DesiredWork } from './desired.ts';

export const isOf = ({ metadata }: HubBinding, { metadata: { labels: told } }: HubWork): boolean =>
  told?.[labels.parentBinding] === metadata.name && told?.[labels.parentPlacementNamespace] === metadata.namespace;

/** A Work with the name that the binding gives it counts even without its labels, else it would never be deleted. */
export const isCleanedUpWith = (binding: HubBinding, each: HubWork): boolean =>
  isOf(binding, each) || (each.metadata.labels?.[labels.parentBinding] === undefined && !isForeign(binding, each));

/**
 * A Work without a mark of any hub, while this binding has not had one yet: a user created it, and its objects are that
 * user's. Differs from KubeFleet, where it becomes the placement's.
 */
export function isForeign({ conditions }: HubBinding, each: HubWork): boolean {
  const { labels: marks, annotations: notes } = each.metadata;
  const said = conditionOf(conditions, 'WorkSynchronized');
  return (
    notes?.[annotations.orderedBy] === undefined &&
    marks?.[labels.parentBinding] === undefined &&
    marks?.[labels.parentPlacement] === undefined &&
    (said === undefined || said.reason === NOT_MANAGED)
  );
}

export const NOT_MANAGED = 'WorkNotManaged' satisfies BindingReason;

export const notManagedMessage = ({ metadata }: HubWork): string =>
  `Work "${metadata.namespace}/${metadata.name}" exists and is not managed by Flotilla; delete it or rename the placement`;

export const isDeleting = ({ metadata }: HubWork): boolean => metadata.deletionTimestamp !== undefined;

/** It is labelled as of a namespaced placement and is not: the controllers of namespaced placements would delete it. */
export const isOfOtherScope = ({ metadata }: HubWork, desired: DesiredWork): boolean =>
  metadata.labels?.[labels.parentPlacementNamespace] !== undefined &&
  desired.labels[labels.parentPlacementNamespace] === undefined;

export const REPLACED = 'a later generation of this binding has been written; its event will follow';

/** A hub with a stale cache would restore a desired state that has been replaced. */
export function isLater(binding: HubBinding, known: HubWork | undefined): boolean {
  const ordered = known === undefined ? Number.POSITIVE_INFINITY : orderedIn(binding, known);
  return Number.isFinite(ordered) && ordered > (binding.metadata.generation ?? 0);
}

/** The generation of the binding by which the Work was written last; unknown = later than any. */
export function orderedIn({ metadata: { uid } }: HubBinding, { metadata }: HubWork): number {
  const [by, of] = metadata.annotations?.[annotations.orderedBy]?.split('/') ?? [];
  return by === uid && of !== undefined ? Number(of) : Number.POSITIVE_INFINITY;
}
