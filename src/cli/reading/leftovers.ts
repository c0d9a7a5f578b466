// Objects of a deleted Work that still exist on its member, and what keeps them: finalizers, or a namespace that does
// not become empty. Read there with the caller's credentials.
import type { KubeObject } from '../../api/object.ts';
import type { Transport } from '../../api/transport.ts';
import type { Work } from '../../api/work.ts';
import { ageText } from '../../base/age.ts';
import { isObject } from '../../base/json.ts';
import { createClient } from '../../client/client.ts';
import { type Evidence, objectName } from '../../insight/explain/explanation.ts';
import { NAME } from '../../insight/which-placement.ts';
import { isOfWork, type OnMember } from './on-member.ts';

/** The maximum numbers of objects of a Work to read and to report. */
const MAX_LOOKED = 50;
const MAX_LISTED = 5;

export async function leftoversEvidence(
  { cluster, member }: OnMember,
  work: Work,
  now: number,
): Promise<readonly Evidence[]> {
  const found: Evidence[] = [];
  for (const { identifier } of (work.status?.manifestConditions ?? []).slice(0, MAX_LOOKED)) {
    if (found.length === MAX_LISTED) break;
    const says = await heldBy(member, work, identifier, now);
    if (says.length > 0) found.push({ about: `${objectName(identifier)} on cluster "${cluster}"`, says });
  }
  return found;
}

type Identifier = NonNullable<NonNullable<Work['status']>['manifestConditions']>[number]['identifier'];

/** Finalizers of Kubernetes itself wait for dependents, which are reported themselves. */
const OF_THE_CLUSTER: readonly string[] = ['foregroundDeletion', 'orphan', 'kubernetes'];

/** Empty = nothing keeps it, or it does not exist. */
async function heldBy(member: Transport, work: Work, identifier: Identifier, now: number): Promise<readonly string[]> {
  const { group = '', version = '', kind = '', resource: plural = '', namespace, name = '' } = identifier;
  // Values that a member reported are used in a URL only if they are valid names.
  const names = [
    plural,
    name,
    version,
    ...(group === '' ? [] : [group]),
    ...(namespace === undefined ? [] : [namespace]),
  ];
  if (!names.every((each) => NAME.test(each))) return [];
  const resource = { group, version, kind, plural, namespaced: namespace !== undefined };
  const object = await createClient(member, 'flotilla').find(resource, {
    name,
    namespace,
  });
  if (object === undefined || !isOfWork(object, work)) return [];
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return [];
  const inside = group === '' && kind === 'Namespace' ? namespaceHolders(object) : { finalizers: [], says: [] };
  const holders = [...finalizers, ...inside.finalizers].filter((each) => !OF_THE_CLUSTER.includes(each));
  if (holders.length === 0 && inside.says.length === 0) return [];
  const held = holders.length === 0 ? '' : `, held by ${holders.join(', ')}`;
  return [`has been terminating for ${ageText(Date.parse(deletionTimestamp), now)}${held}`, ...inside.says];
}

/** Condition types of a namespace that explain why it remains. */
const KEEPING: readonly string[] = [
  'NamespaceContentRemaining',
  'NamespaceFinalizersRemaining',
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
  'NamespaceDeletionContentFailure',
];

/**
 * A namespace is deleted once it is empty and the finalizers in its spec are removed. The remaining objects need not be
 * ours: only its conditions report them.
 */
function namespaceHolders({ spec, status }: KubeObject) {
  const { finalizers } = isObject(spec) ? spec : {};
  const { conditions } = isObject(status) ? status : {};
  return {
    finalizers: textsIn(finalizers),
    says: textsIn(
      (Array.isArray(conditions) ? conditions : [])
        .filter(isObject)
        .filter(({ type, status: is }) => is === 'True' && KEEPING.includes(String(type)))
        .map(({ message }) => message),
    ),
  };
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string' && each !== '') : [];
