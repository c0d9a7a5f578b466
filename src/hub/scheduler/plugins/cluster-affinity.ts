// ClusterAffinity: required terms, of which one must match. Preferences will add to the affinity part of the score here, and terms will also
// look at properties; until then a placement that uses either is held back before it is scheduled.
import type { ClusterSelectorTerm } from '../../../api/cluster-selector.ts';
import type { MemberCluster } from '../../../api/member-cluster.ts';
import type { PlacementPolicy } from '../../../api/placement-policy.ts';
import { compileLabelSelector, everything } from '../../../base/selector.ts';
import { type Plugin, pass, unfit } from '../plugin.ts';

export const requiredTerms = (policy: PlacementPolicy): readonly ClusterSelectorTerm[] =>
  policy.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];

const MISMATCH = unfit('cluster does not match with any of the required cluster affinity terms');

export const clusterAffinity: Plugin = {
  name: 'ClusterAffinity',
  prepare({ policy }) {
    const terms = requiredTerms(policy);
    if (terms.length === 0) return undefined;
    // In these terms an absent selector asks for nothing.
    const selectors = terms.map(({ labelSelector }) =>
      labelSelector === undefined ? everything : compileLabelSelector(labelSelector),
    );
    return {
      filter: ({ metadata }: MemberCluster) =>
        selectors.some((selector) => selector.matches(metadata.labels)) ? pass : MISMATCH,
    };
  },
};
