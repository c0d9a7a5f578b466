// Left-overs: objects that were placed for a Work and are no longer in it.
//
// Guarantee: only objects that our AppliedWork owns are touched, and they are deleted only if they have no other owner
// and need not be given back.
// Differs from KubeFleet: an object in the spec is never a left-over, even if its manifest cannot be decoded now. The
// AppliedWork counts as well as the Work's status, so a lost status loses no object. An entry with Applied=False
// counts, too, because the response to its create may have been lost; the owner reference decides.
import type { AppliedWorkStatus } from '../../api/applied-work.ts';
import type { Resource } from '../../api/kind.ts';
import { fieldManagers } from '../../api/names.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { Target } from '../../api/transport.ts';
import type { WorkStatus } from '../../api/work.ts';
import { ApiError, LostError, messageOf } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import { describe, type Identifier, identityOf, type Refusal } from './manifest.ts';
import { isSameOwner, ownersOf } from './ownership.ts';
import { giveBack, isGivenBack } from './taken-over.ts';
import { targetOf } from './targets.ts';

/** Without duplicates. `inSpec` has the identities of all objects that the Work names. */
export function leftOvers(
  inSpec: ReadonlySet<string>,
  status: WorkStatus | undefined,
  record: AppliedWorkStatus | undefined,
): readonly Identifier[] {
  const found = new Map<string, Identifier>();
  const placed = [
    ...(status?.manifestConditions ?? []).map(({ identifier }) => identifier),
    ...(record?.appliedResources ?? []).map(({ uid: _uid, ...identifier }) => identifier),
  ];
  for (const identifier of placed) {
    const text = identityOf(identifier);
    if (identifier.name !== undefined && !inSpec.has(text) && !found.has(text)) found.set(text, identifier);
  }
  return [...found.values()];
}

const ATTEMPTS = 3;

/** The object is being deleted and still exists, because of garbage collection, its content, or a finalizer. */
export interface Leaving {
  readonly leaving: KubeObject;
}

/** undefined = it does not exist, or is no longer ours. */
export async function release(
  client: WorkerClient,
  identifier: Identifier,
  resource: Resource,
  { owner, keeps }: { readonly owner: OwnerReference; readonly keeps: boolean },
): Promise<Refusal | Leaving | undefined> {
  const at = targetOf(resource, identifier);
  for (let attempt = 1; ; attempt++) {
    try {
      const { object } = await client.call('member', { verb: 'get', at });
      if (object === undefined) return undefined;
      return await releaseObject(client, at, object, { owner, isKept: isGivenBack(identifier, object, keeps) });
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
      const isPassing = error instanceof LostError || (error instanceof ApiError && error.reason === 'Conflict');
      if (isPassing && attempt < ATTEMPTS) continue;
      if (!(error instanceof ApiError || error instanceof LostError)) throw error;
      return {
        reason: 'ManifestApplyFailed',
        message: `${describe(identifier)} is no longer wanted and cannot be removed: ${messageOf(error)}`,
      };
    }
  }
}

/** Whether the object exists is unknown. */
export const unanswered = (identifier: Identifier): Refusal => ({
  reason: 'ManifestApplyFailed',
  message: `${describe(identifier)} is no longer wanted and cannot be removed: the API server of group ${identifier.group ?? ''} does not answer`,
});

interface Release {
  readonly owner: OwnerReference;
  /** The object stays even if it has no other owner. */
  readonly isKept: boolean;
}

async function releaseObject(
  client: WorkerClient,
  at: Target,
  live: KubeObject,
  { owner, isKept }: Release,
): Promise<Leaving | undefined> {
  const { uid = '', resourceVersion = '', deletionTimestamp } = live.metadata;
  const owners = ownersOf(live);
  const others = owners.filter((each) => !isSameOwner(each, owner));
  if (others.length === owners.length) return undefined;
  if (deletionTimestamp !== undefined) return { leaving: live };
  if (isKept) await giveBack(client, at, live, owner);
  else if (others.length === 0) {
    // The precondition includes the resourceVersion: otherwise an owner added meanwhile would lose the object.
    const { object } = await client.call('member', { verb: 'delete', at, uid, revision: resourceVersion });
    return object?.metadata.deletionTimestamp === undefined ? undefined : { leaving: object };
  } else {
    const body = { metadata: { uid, resourceVersion, ownerReferences: others } } as unknown as Json;
    await client.call('member', { verb: 'patch', at, patch: { type: 'merge', body }, manager: fieldManagers.apply });
  }
  return undefined;
}
