// What is left on a member of a Work that is being deleted, and what keeps it there: an object whose own deletion somebody holds. Read there as the
// caller.
import type { Transport } from '../api/transport.ts';
import type { Work } from '../api/work.ts';
import { ageText } from '../base/age.ts';
import { createClient } from '../client/client.ts';
import { type Evidence, objectName } from './explanation.ts';
import { isOfWork, type OnMember } from './on-member.ts';
import { NAME } from './which-placement.ts';

/** So many objects of a Work are looked for, and so many told. */
const MOST_LOOKED = 50;
const MOST_TOLD = 5;

export async function remnantsEvidence(
  { cluster, member }: OnMember,
  work: Work,
  now: number,
): Promise<readonly Evidence[]> {
  const found: Evidence[] = [];
  for (const { identifier } of (work.status?.manifestConditions ?? []).slice(0, MOST_LOOKED)) {
    if (found.length === MOST_TOLD) break;
    const says = await heldBy(member, work, identifier, now);
    if (says !== undefined) found.push({ about: `${objectName(identifier)} on cluster "${cluster}"`, says: [says] });
  }
  return found;
}

type Identifier = NonNullable<NonNullable<Work['status']>['manifestConditions']>[number]['identifier'];

/** The cluster's own finalizers say that others go first: those are told of themselves. */
const OF_THE_CLUSTER: readonly string[] = ['foregroundDeletion', 'orphan', 'kubernetes'];

async function heldBy(member: Transport, work: Work, identifier: Identifier, now: number): Promise<string | undefined> {
  const { group = '', version = '', kind = '', resource: plural = '', namespace, name = '' } = identifier;
  // What a member says of itself becomes an address only if it can be one.
  const names = [
    plural,
    name,
    version,
    ...(group === '' ? [] : [group]),
    ...(namespace === undefined ? [] : [namespace]),
  ];
  if (!names.every((each) => NAME.test(each))) return undefined;
  const resource = { group, version, kind, plural, namespaced: namespace !== undefined };
  const object = await createClient(member, 'flotilla').find(resource, {
    name,
    ...(namespace === undefined ? {} : { namespace }),
  });
  if (object === undefined || !isOfWork(object, work)) return undefined;
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const holders = finalizers.filter((each) => !OF_THE_CLUSTER.includes(each));
  if (deletionTimestamp === undefined || holders.length === 0) return undefined;
  return `is being deleted for ${ageText(Date.parse(deletionTimestamp), now)}, held by ${holders.join(', ')}`;
}
