// ClusterRequest: a policy asks for a cluster that does not exist yet, in the next generation of types.
import { defineKind, type Infer, rule, s } from '../build.ts';
import { conditionsByType } from '../conditions.ts';
import { nextGroup } from '../groups.ts';
import { frozen } from '../immutable.ts';
import { clusterSelectorTerm } from './cluster-selector.ts';
import { objectReference } from './resource.ts';

const spec = s.object(
  {
    placementPolicyRef: s.ruled(objectReference('The policy that asks. Immutable.'), [
      frozen('placementPolicyRef', 'create a new request'),
    ]),
    clusterSelectorTerms: s.optional(
      s.array(clusterSelectorTerm, { doc: 'What the cluster must match. Immutable.', maxItems: 5 }),
    ),
  },
  {
    doc: 'What is asked for.',
    rules: [
      rule(
        'has(self.clusterSelectorTerms) == has(oldSelf.clusterSelectorTerms) && (!has(self.clusterSelectorTerms) || self.clusterSelectorTerms == oldSelf.clusterSelectorTerms)',
        'clusterSelectorTerms is immutable: create a new request',
        '.clusterSelectorTerms',
      ),
    ],
  },
);

const status = s.object(
  {
    provisionedClusterName: s.optional(s.string({ doc: 'The cluster that was made.' })),
    lastObservedMostRecentClusterCreationTimestamp: s.optional(
      s.time('When the newest cluster seen so far was created.'),
    ),
    conditions: s.optional(conditionsByType('How far it is.')),
  },
  { doc: 'Observed state.' },
);

export const clusterRequest = defineKind({
  in: nextGroup,
  versions: ['v1alpha1'],
  namespaced: false,
  kind: 'ClusterRequest',
  plural: 'clusterrequests',
  doc: 'Asks for a cluster. Not acted upon.',
  spec,
  status,
});

export type ClusterRequestSpec = Infer<typeof spec>;
export type ClusterRequestStatus = Infer<typeof status>;
export type ClusterRequestCondition = 'Completed';
