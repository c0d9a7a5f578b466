// Objects that were placed for a Work and are no longer in it: which they are, and how they go.
//
// Guarantee: only what our AppliedWork owns is touched, and only deleted if it has no other owner and is not to be
// given back. Differs from KubeFleet: what is still in the
// spec is never a left-over, whether or not it can be read just now; and the member's own record counts as well as the Work's status, so
// nothing is forgotten when a status was lost. An entry that says it was not applied counts too: the answer to its create may have been lost,
// and whose the object is decides anyway.
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

/** Each once. `inSpec` are the identities of all that the Work still names. */
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

/** It is being deleted, and something keeps it: garbage collection, its content, or a finalizer of others. */
export interface Leaving {
  readonly leaving: KubeObject;
}

/** undefined = it is gone, or no longer ours. */
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
      return await letGo(client, at, object, { owner, isKept: isGivenBack(identifier, object, keeps) });
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

/** It is unknown whether it exists. */
export const unanswered = (identifier: Identifier): Refusal => ({
  reason: 'ManifestApplyFailed',
  message: `${describe(identifier)} is no longer wanted and cannot be removed: the API server of group ${identifier.group ?? ''} does not answer`,
});

interface LettingGo {
  readonly owner: OwnerReference;
  /** It stays although it has no other owner. */
  readonly isKept: boolean;
}

async function letGo(
  client: WorkerClient,
  at: Target,
  live: KubeObject,
  { owner, isKept }: LettingGo,
): Promise<Leaving | undefined> {
  const { uid = '', resourceVersion = '', deletionTimestamp } = live.metadata;
  const owners = ownersOf(live);
  const others = owners.filter((each) => !isSameOwner(each, owner));
  if (others.length === owners.length) return undefined;
  if (deletionTimestamp !== undefined) return { leaving: live };
  if (isKept) await giveBack(client, at, live, owner);
  else if (others.length === 0) {
    // The revision too: an owner who came in between would lose it.
    const { object } = await client.call('member', { verb: 'delete', at, uid, revision: resourceVersion });
    return object?.metadata.deletionTimestamp === undefined ? undefined : { leaving: object };
  } else {
    const body = { metadata: { uid, resourceVersion, ownerReferences: others } } as unknown as Json;
    await client.call('member', { verb: 'patch', at, patch: { type: 'merge', body }, manager: fieldManagers.apply });
  }
  return undefined;
}
