// NamespaceAffinity: a ResourcePlacement needs its namespace on the cluster. Cluster-scoped placements are not
// affected.
import type { MemberCluster } from '../../../api/member-cluster.ts';
import { conditionOf } from '../../../api/next-condition.ts';
import { type Plugin, pass, passWith, unfit } from '../plugin.ts';

export type NamespaceKnowledge = 'there' | 'missing' | 'unknown' | 'not-reported';

/** What a member reports about one of its namespaces. */
export function knowledgeOf({ status }: MemberCluster, namespace: string): NamespaceKnowledge {
  const collection = conditionOf(status?.conditions, 'NamespaceCollectionSucceeded');
  if (collection === undefined) return 'not-reported';
  if (Object.hasOwn(status?.namespaces ?? {}, namespace)) return 'there';
  return collection.status === 'True' ? 'missing' : 'unknown';
}

export const namespaceAffinity: Plugin = {
  name: 'NamespaceAffinity',
  prepare({ namespace }) {
    if (namespace === undefined) return undefined;
    const missing = unfit(`cluster does not have namespace "${namespace}"`);
    // Differs from KubeFleet: a truncated list does not prove that a namespace is missing.
    const unproven = passWith(`the cluster does not report all its namespaces, "${namespace}" may be missing`);
    return {
      filter(member) {
        switch (knowledgeOf(member, namespace)) {
          case 'missing':
            return missing;
          case 'unknown':
            return unproven;
          default:
            return pass;
        }
      },
    };
  },
};
