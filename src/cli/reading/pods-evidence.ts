import type { KubeObject } from '../../api/object.ts';
import { podResource } from '../../api/resources.ts';
import type { Work } from '../../api/work.ts';
import { isObject } from '../../base/json.ts';
import { compileLabelSelector, formatSelector, type LabelSelector } from '../../base/selector.ts';
import { createClient } from '../../client/client.ts';
import { type Evidence, objectName } from '../../insight/explain/explanation.ts';
import { leftBehind, refusalOf, troubleOf } from '../../insight/explain/pod-trouble.ts';
import { hasPods, WORKLOADS } from '../../insight/explain/workloads.ts';
import { kubectlOn } from '../../insight/kubectl.ts';
import { NAME } from '../../insight/which-placement.ts';
import { isOfWork, type OnMember } from './on-member.ts';

/** The maximum numbers of workloads per Work, and of Pods per workload: the rest usually reports the same. */
const MAX = 3;
const MAX_LISTED = 100;

type Identifier = NonNullable<NonNullable<Work['status']>['manifestConditions']>[number]['identifier'];

/** Workloads and Pods of a Work that are not available. */
export const downIn = ({ status }: Work): readonly Identifier[] =>
  (status?.manifestConditions ?? [])
    .filter(({ conditions }) => conditions.some(({ type, status: is }) => type === 'Available' && is === 'False'))
    .map(({ identifier }) => identifier)
    .filter(({ kind = '' }) => hasPods(kind) || kind === podResource.kind)
    .filter(({ namespace = '', name = '' }) => NAME.test(namespace) && NAME.test(name))
    .slice(0, MAX);

export async function podsEvidence(
  { cluster, member }: OnMember,
  work: Work,
  { group = '', kind = '', namespace = '', name = '' }: Identifier,
): Promise<readonly Evidence[]> {
  const client = createClient(member, 'flotilla');
  const resource = [...WORKLOADS, podResource].find((each) => each.group === group && each.kind === kind);
  if (resource === undefined) return [];
  const found = await client.find(resource, { namespace, name });
  if (found === undefined || !isOfWork(found, work)) return [];
  const pods = hasPods(kind) ? await podsOf(found) : [found];
  const there = (object: Parameters<typeof objectName>[0]) => `${objectName(object)} on cluster "${cluster}"`;
  const set = kind === 'StatefulSet' ? found : undefined;
  const evidenceOn = (pod: KubeObject): Evidence => {
    const about = there({ kind: podResource.kind, ...pod.metadata });
    const revision = set && leftBehind(pod, set);
    if (revision === undefined) return { about, says: troubleOf(pod) };
    const stays = `is still of an earlier revision (${revision}): its StatefulSet does not replace a Pod that is not ready`;
    const command = deletionOf(pod);
    const next = `delete ${about} if it does not become ready; its StatefulSet creates it again: \`${command}\``;
    return { about, says: [...troubleOf(pod), stays], ...(command === undefined ? {} : { next }) };
  };
  return [{ about: there({ kind, namespace, name }), says: refusalOf(found) }, ...pods.map(evidenceOn)]
    .filter(({ says }) => says.length > 0)
    .slice(0, MAX)
    .map((each) => ({ ...each, isRoot: true }));

  function deletionOf({ metadata: { name: pod = '' } }: KubeObject): string | undefined {
    const isTypable = [cluster, namespace, pod].every((each) => NAME.test(each));
    return isTypable ? `${kubectlOn(cluster, { namespace })} delete pod ${pod}` : undefined;
  }

  async function podsOf({ spec }: KubeObject): Promise<readonly KubeObject[]> {
    const selector = isObject(spec) ? (spec['selector'] as LabelSelector | undefined) : undefined;
    if (selector === undefined) return [];
    const labels = formatSelector(compileLabelSelector(selector));
    // One page is enough: the rest usually reports the same.
    for await (const { items } of client.pages(podResource, { namespace, labels, limit: MAX_LISTED })) return items;
    return [];
  }
}
