import { describe, expect, test } from 'vitest';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import { policyHashOf } from '../placement/policy-hash.ts';
import { compileTerms, matchesTerm } from '../scheduler/required-terms.ts';
import { groupsNamedIn, withGroups } from './terms.ts';

type Terms = readonly { readonly clusterGroup?: string; readonly labelSelector?: object }[];
const policyOf = (terms: Terms): PlacementPolicy => ({
  placementType: 'PickAll',
  affinity: {
    clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { clusterSelectorTerms: [...terms] } },
  },
});
const GROUPS = [
  { name: 'edge', selector: { matchLabels: { tier: 'edge' } } },
  { name: 'all', selector: {} },
  { name: 'nothing', selector: undefined },
  { name: 'not-eu', selector: { matchExpressions: [{ key: 'region', operator: 'NotIn', values: ['eu'] }] } },
];
const MEMBERS = [
  { name: 'a', labels: { tier: 'edge', region: 'eu' } },
  { name: 'b', labels: { tier: 'edge', region: 'us' } },
  { name: 'c', labels: { tier: 'core', region: 'us' } },
];
const clustersOf = (terms: Terms): string => {
  const compiled = compileTerms(withGroups(policyOf(terms), GROUPS));
  return MEMBERS.filter(({ name, labels }) =>
    compiled.some((term) => matchesTerm(term, { metadata: { name, labels }, spec: { identity: {} } } as never)),
  )
    .map(({ name }) => name)
    .join('');
};

describe('a required term with a ClusterGroup', () => {
  test.each<{ it: string; terms: Terms; clusters: string }>([
    { it: 'matches the clusters of the group', terms: [{ clusterGroup: 'edge' }], clusters: 'ab' },
    {
      it: 'asks for the labels too',
      terms: [{ clusterGroup: 'edge', labelSelector: { matchLabels: { region: 'us' } } }],
      clusters: 'b',
    },
    {
      it: 'matches nothing when labels and group ask for different values',
      terms: [{ clusterGroup: 'edge', labelSelector: { matchLabels: { tier: 'core' } } }],
      clusters: '',
    },
    { it: 'follows expressions of the group', terms: [{ clusterGroup: 'not-eu' }], clusters: 'bc' },
    { it: 'matches every cluster of an empty selector', terms: [{ clusterGroup: 'all' }], clusters: 'abc' },
    { it: 'matches nothing of a group without a selector', terms: [{ clusterGroup: 'nothing' }], clusters: '' },
    { it: 'matches nothing of a group that does not exist', terms: [{ clusterGroup: 'absent' }], clusters: '' },
    {
      it: 'is one way among others',
      terms: [{ clusterGroup: 'absent' }, { labelSelector: { matchLabels: { tier: 'core' } } }],
      clusters: 'c',
    },
    { it: 'with an empty name asks for no group', terms: [{ clusterGroup: '' }], clusters: 'abc' },
  ])('$it', ({ terms, clusters }) => {
    expect(clustersOf(terms)).toBe(clusters);
  });

  test('is in the hash of the policy only when it is set', () => {
    const plain = policyHashOf(policyOf([{ labelSelector: { matchLabels: { tier: 'edge' } } }]));
    const empty = policyHashOf(policyOf([{ clusterGroup: '', labelSelector: { matchLabels: { tier: 'edge' } } }]));
    const named = policyHashOf(policyOf([{ clusterGroup: 'edge', labelSelector: { matchLabels: { tier: 'edge' } } }]));
    expect(empty).toBe(plain);
    expect(named).not.toBe(plain);
  });

  test('a policy without one is left as it is', () => {
    const policy = policyOf([{ labelSelector: {} }]);
    expect(withGroups(policy, GROUPS)).toBe(policy);
    expect(groupsNamedIn(policy)).toEqual([]);
    expect(groupsNamedIn(undefined)).toEqual([]);
  });
});
