// The member's record of a Work: an AppliedWork of the same name, which owns the placed objects and lists them.
import { type AppliedWork, type AppliedWorkStatus, appliedWork } from '../../api/applied-work.ts';
import { fieldManagers } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import { deepEqual, type Json } from '../../base/json.ts';
import type { WorkerClient } from '../../runtime/controller.ts';
import { type Identifier, identityOf } from './manifest.ts';
import type { Outcome } from './outcome.ts';

type Applied = NonNullable<AppliedWorkStatus['appliedResources']>[number];

/** Creates it if it does not exist. A string result says why nothing may be placed under it. */
export async function recordOf(
  client: WorkerClient,
  known: AppliedWork | undefined,
  name: string,
  namespace: string,
): Promise<AppliedWork | string> {
  const object: KubeObject = {
    apiVersion: apiVersionOf(appliedWork.group, appliedWork.version),
    kind: appliedWork.kind,
    metadata: { name },
    spec: { workName: name, workNamespace: namespace },
  };
  try {
    const record = known ?? (await made(client, object));
    if (record.spec.workNamespace !== namespace) {
      return `AppliedWork "${name}" of the member belongs to a Work in namespace "${record.spec.workNamespace}" of a hub; if that is past, delete it with --cascade=orphan`;
    }
    if (record.metadata.deletionTimestamp !== undefined) {
      return `AppliedWork "${name}" is being deleted on the member; everything is placed again afterwards`;
    }
    return record;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `cannot keep a record on the member: AppliedWork "${name}": ${messageOf(error)}`;
  }
}

async function made(client: WorkerClient, object: KubeObject): Promise<AppliedWork> {
  try {
    const at = { resource: appliedWork };
    return (await client.call('member', { verb: 'create', at, object, manager: fieldManagers.apply }))
      .object as AppliedWork;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    const at = { resource: appliedWork, name: object.metadata.name ?? '' };
    return (await client.call('member', { verb: 'get', at })).object as AppliedWork;
  }
}

/** Objects that exist: those applied, those that existed and cannot be applied now, and left-overs that still exist. */
export function appliedResources(
  record: AppliedWorkStatus | undefined,
  outcomes: readonly Outcome[],
  staying: readonly Identifier[],
): readonly Applied[] {
  const before = new Map((record?.appliedResources ?? []).map((each) => [identityOf(each), each]));
  const named = outcomes.flatMap(({ identifier, refusal, uid }): readonly Applied[] => {
    if (refusal === undefined) return [{ ...identifier, ...(uid === undefined ? {} : { uid }) }];
    const known = before.get(identityOf(identifier));
    return known === undefined ? [] : [{ ...known, ordinal: identifier.ordinal }];
  });
  const left = staying.map((identifier) => before.get(identityOf(identifier)) ?? identifier);
  return [...named, ...[...left].sort(by(identityOf))];
}

/** Writes only if the list differs. */
export async function keepRecord(
  client: WorkerClient,
  record: AppliedWork,
  resources: readonly Applied[],
): Promise<AppliedWork> {
  if (deepEqual(record.status?.appliedResources ?? [], resources)) return record;
  const { name = '', uid, resourceVersion } = record.metadata;
  const body = { metadata: { uid, resourceVersion }, status: { appliedResources: resources } } as unknown as Json;
  const answer = await client.call('member', {
    verb: 'patch',
    at: { resource: appliedWork, name, subresource: 'status' },
    patch: { type: 'merge', body },
    manager: fieldManagers.apply,
  });
  return answer.object as AppliedWork;
}
