// The copy of a placement's status in the namespace that it places (ClusterResourcePlacementStatus). Guarantees: the
// copy is written before the status, so that it is never older; it is written only if it changes; a copy that cannot be
// written never blocks the status itself.
import type { Condition } from '../../api/conditions.ts';
import { conditionOf, nextCondition } from '../../api/next-condition.ts';
import { apiVersionOf } from '../../api/object.ts';
import { type PlacementReason, type PlacementStatus, placementConditionType } from '../../api/placement.ts';
import { isMirrored, mirrorNamespaceOf } from '../../api/status-mirror.ts';
import { kubeTime } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import { create, patchByOperations, seen } from '../../runtime/actions.ts';
import type { Action, Failure } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { digestOf, type HubStatusMirror } from '../status-mirror-source.ts';
import { saysTheSame } from './write-status.ts';

/** For a placement whose status is copied. */
export interface Mirror {
  /** '' = its Namespace selector has no name. */
  readonly namespace: string;
  readonly isNamespace: 'present' | 'absent' | 'terminating';
  /** The existing copy in that namespace. */
  readonly copy: HubStatusMirror | undefined;
}

/** The namespace of the copy is immutable. Returns undefined, or a message if it has changed. */
export function namespaceChange(
  { metadata, spec }: HubPlacement,
  previous: PlacementStatus | undefined,
  copies: readonly HubStatusMirror[],
): string | undefined {
  if (!isMirrored(spec)) return undefined;
  const now = mirrorNamespaceOf(spec);
  const own = copies.find(({ owner }) => owner === metadata.uid);
  const placed = (previous?.selectedResources ?? []).find(
    ({ group = '', kind }) => group === '' && kind === 'Namespace',
  );
  // A selector by labels names no namespace, unless a copy exists.
  const before = own?.metadata.namespace ?? (now === '' ? undefined : placed?.name);
  if (before === undefined || before === now) return undefined;
  const chosen = now === '' ? 'no namespace' : `namespace "${now}"`;
  return `statusReportingScope NamespaceAccessible does not allow another namespace: the selector names ${chosen} in place of "${before}"; name "${before}" again, or create a new placement`;
}

export interface MirrorInput {
  readonly family: PlacementFamily;
  readonly placement: HubPlacement;
  readonly mirror: Mirror;
  readonly previous: PlacementStatus | undefined;
  /** The new status of the placement, without the condition about its copy. */
  readonly status: PlacementStatus;
  /** The error of the last reconcile. */
  readonly failure: Failure | undefined;
  readonly now: number;
}

export interface Mirrored {
  readonly status: PlacementStatus;
  /** Writes the copy; absent = it is up to date, or cannot be written. */
  readonly step?: Action;
  /** The last write of the copy was refused: the status is written first, to report that. */
  readonly isRefused: boolean;
}

export function mirrored(input: MirrorInput): Mirrored {
  const { family, previous, mirror, placement } = input;
  const type = placementConditionType(family.placement, 'StatusSynced');
  const without = (status: PlacementStatus): PlacementStatus => ({
    ...present(status),
    conditions: (status.conditions ?? []).filter((each) => each.type !== type),
  });
  // If the status does not have to be written, the copy matches the status as it is.
  const wanted = without(input.status);
  const copied = previous !== undefined && saysTheSame(without(previous), wanted) ? without(previous) : wanted;

  const unable = unableBecause(mirror);
  const isCurrent = mirror.copy?.digest === digestOf(copied) && mirror.copy.owner === placement.metadata.uid;
  const kind = family.statusMirrors?.resource.kind;
  const refusal = isCurrent || input.failure?.resource?.kind !== kind ? undefined : input.failure?.message;
  const trouble = unable ?? refusal;
  const condition =
    trouble === undefined
      ? conditionIn(
          input,
          type,
          'True',
          'StatusSyncSucceeded',
          `the status is copied into namespace "${mirror.namespace}"`,
        )
      : conditionIn(input, type, 'False', 'StatusSyncFailed', trouble);
  const step = unable === undefined && !isCurrent ? writeOf(input, copied) : undefined;
  return {
    status: { ...copied, conditions: [...(copied.conditions ?? []), condition] },
    ...(step === undefined ? {} : { step }),
    isRefused: refusal !== undefined,
  };
}

/** A field with the value undefined is left out of the copy. */
const present = (status: PlacementStatus): PlacementStatus =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));

function unableBecause({ namespace, isNamespace }: Mirror): string | undefined {
  if (namespace === '') return 'the Namespace selector has no name: there is no namespace to copy the status into';
  if (isNamespace === 'present') return undefined;
  return isNamespace === 'absent'
    ? `namespace "${namespace}" does not exist on the hub: create it, and the status is copied into it`
    : `namespace "${namespace}" is being deleted: the status cannot be copied into it`;
}

function conditionIn(
  { previous, placement, now }: MirrorInput,
  type: string,
  status: 'True' | 'False',
  reason: PlacementReason,
  message: string,
): Condition {
  const { generation } = placement.metadata;
  const found = {
    type,
    status,
    reason,
    message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  return nextCondition(conditionOf(previous?.conditions, type), found, now);
}

function writeOf({ family, placement, mirror, now }: MirrorInput, status: PlacementStatus): Action | undefined {
  const source = family.statusMirrors;
  if (source === undefined) return undefined;
  const { name = '', uid = '' } = placement.metadata;
  const { group, version, kind } = family.placement;
  const ownerReferences = [
    { apiVersion: apiVersionOf(group, version), kind, name, uid, controller: true, blockOwnerDeletion: true },
  ];
  const lastUpdatedTime = kubeTime(now);
  if (mirror.copy !== undefined) {
    const owned = mirror.copy.owner === uid;
    // Not a merge patch, which would keep fields that the status no longer has.
    const operations = [
      { op: 'add' as const, path: '/sourceStatus', value: status as unknown as Json },
      { op: 'add' as const, path: '/lastUpdatedTime', value: lastUpdatedTime },
      ...(owned ? [] : [{ op: 'add' as const, path: '/metadata/ownerReferences', value: ownerReferences }]),
    ];
    return patchByOperations(seen(source, mirror.copy), operations, 'the status is out of date');
  }
  const { resource } = source;
  const object = {
    apiVersion: apiVersionOf(resource.group, resource.version),
    kind: resource.kind,
    metadata: { name, namespace: mirror.namespace, ownerReferences },
    sourceStatus: status,
    lastUpdatedTime,
  };
  return create('hub', resource, object, `the status is copied into namespace "${mirror.namespace}"`);
}
