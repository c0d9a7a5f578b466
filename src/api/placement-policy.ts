// Which clusters a placement picks. Placements specify the policy, policy snapshots record it.
import { type Infer, rule, s } from './build.ts';
import { clusterSelectorTerm, groupSelectorTerm } from './cluster-selector.ts';
import { QUALIFIED_NAME, QUALIFIED_NAME_LENGTH, SUBDOMAIN } from './patterns.ts';
import { toleration } from './toleration.ts';

export type PlacementType = 'PickAll' | 'PickN' | 'PickFixed';

const requiredTerm = s.ruled(groupSelectorTerm, [
  rule(
    '!has(self.propertySorter)',
    'required terms do not rank: propertySorter is for preferred terms',
    '.propertySorter',
  ),
]);

const preferredTerm = s.ruled(s.doc('What makes a cluster preferred.', clusterSelectorTerm), [
  rule(
    '!has(self.propertySelector)',
    'preferred terms take a propertySorter; propertySelector is for required terms',
    '.propertySelector',
  ),
]);

const affinity = s.object(
  {
    clusterAffinity: s.optional(
      s.object(
        {
          requiredDuringSchedulingIgnoredDuringExecution: s.optional(
            s.object(
              {
                clusterSelectorTerms: s.array(requiredTerm, {
                  doc: 'A cluster qualifies when one of the terms matches.',
                  maxItems: 10,
                }),
              },
              {
                doc: 'Terms that a cluster must match to be picked. Clusters that are already picked are not evaluated again.',
              },
            ),
          ),
          preferredDuringSchedulingIgnoredDuringExecution: s.optional(
            s.array(
              s.object(
                {
                  weight: s.integer({
                    doc: 'How much a match adds to the score of a cluster, or takes from it.',
                    format: 'int32',
                    minimum: -100,
                    maximum: 100,
                  }),
                  preference: preferredTerm,
                },
                { doc: 'One preference.' },
              ),
              { doc: 'What makes one cluster better than another. For PickN.', maxItems: 100 },
            ),
          ),
        },
        { doc: 'Affinity to clusters.' },
      ),
    ),
  },
  { doc: 'Requirements and preferences about clusters.' },
);

const topologySpreadConstraint = s.object(
  {
    maxSkew: s.defaulted(
      s.integer({ doc: 'The largest allowed difference between two topology values.', format: 'int32', minimum: 1 }),
      1,
    ),
    topologyKey: s.string({
      doc: 'The MemberCluster label whose values are spread over.',
      pattern: QUALIFIED_NAME,
      maxLength: QUALIFIED_NAME_LENGTH,
    }),
    whenUnsatisfiable: s.defaulted(
      s.oneOf(['DoNotSchedule', 'ScheduleAnyway'], {
        doc: 'Whether a cluster that breaks the rule may still be picked.',
      }),
      'DoNotSchedule',
    ),
  },
  { doc: 'One rule for spreading.' },
);

const fields = {
  placementType: s.defaulted(
    s.oneOf(['PickAll', 'PickN', 'PickFixed'], {
      doc: 'All matching clusters, a number of the best ones, or a fixed list. Cannot change.',
    }),
    'PickAll',
  ),
  clusterNames: s.optional(
    s.array(s.string({ doc: 'A MemberCluster.', pattern: SUBDOMAIN, minLength: 1, maxLength: 63 }), {
      doc: 'The clusters of PickFixed.',
      maxItems: 100,
    }),
  ),
  numberOfClusters: s.optional(s.integer({ doc: 'How many clusters PickN picks.', format: 'int32', minimum: 0 })),
  affinity: s.optional(affinity),
  topologySpreadConstraints: s.optional(
    s.array(topologySpreadConstraint, { doc: 'How the picked clusters are spread. For PickN.', maxItems: 100 }),
  ),
  tolerations: s.optional(
    s.array(toleration, {
      doc: 'Taints that do not keep a cluster from being picked. Entries can be added, not changed or removed.',
      maxItems: 100,
    }),
  ),
};

/** The policy in a snapshot: it lacks the N of PickN, so the rules by type do not apply. */
export const recordedPolicy = s.object(fields, { doc: 'The policy; absent means PickAll.' });
export type PlacementPolicy = Infer<typeof recordedPolicy>;

const hasAny = (list: string) => `has(self.${list}) && size(self.${list}) > 0`;
const hasAffinity = 'has(self.affinity) && has(self.affinity.clusterAffinity)';

// Differs from KubeFleet: there mostly its webhook validates this, which never receives ResourcePlacements.
export const writtenPolicy = s.object(fields, {
  doc: 'Which clusters the resources go to; absent means PickAll.',
  rules: [
    rule(
      "self.placementType != 'PickN' || has(self.numberOfClusters)",
      'PickN needs numberOfClusters',
      '.numberOfClusters',
    ),
    rule(
      "self.placementType == 'PickN' || !has(self.numberOfClusters)",
      'numberOfClusters is for placementType PickN only',
      '.numberOfClusters',
    ),
    rule(
      `self.placementType == 'PickFixed' || !(${hasAny('clusterNames')})`,
      'clusterNames is for placementType PickFixed only',
      '.clusterNames',
    ),
    rule(
      '!has(self.clusterNames) || self.clusterNames.all(name, self.clusterNames.exists_one(other, other == name))',
      'clusterNames names a cluster twice',
      '.clusterNames',
    ),
    rule(
      `self.placementType != 'PickFixed' || !(${hasAffinity})`,
      'PickFixed takes its clusters from clusterNames: it has no affinity',
      '.affinity',
    ),
    rule(
      `self.placementType == 'PickN' || !(${hasAffinity} && has(self.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution) && size(self.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution) > 0)`,
      'preferred affinity ranks clusters, which only PickN does',
      '.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution',
    ),
    rule(
      `self.placementType == 'PickN' || !(${hasAny('topologySpreadConstraints')})`,
      'topologySpreadConstraints is for placementType PickN only',
      '.topologySpreadConstraints',
    ),
    rule(
      `self.placementType != 'PickFixed' || !(${hasAny('tolerations')})`,
      'PickFixed ignores taints: it has no tolerations',
      '.tolerations',
    ),
    rule(
      '!has(self.tolerations) || self.tolerations.all(one, self.tolerations.exists_one(other, other == one))',
      'tolerations has an entry twice',
      '.tolerations',
    ),
    rule(
      '!has(oldSelf.tolerations) || oldSelf.tolerations.all(one, has(self.tolerations) && one in self.tolerations)',
      'tolerations can only be added: to change or remove one, create a new placement',
      '.tolerations',
    ),
  ],
});
