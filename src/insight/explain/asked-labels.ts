// Which labels a policy asks for, in kubectl's words, and what a cluster has of them. Pure.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { Placement } from '../../api/placement.ts';
import { compileLabelSelector, formatSelector, type Selector } from '../../base/selector.ts';
import type { Evidence } from './explanation.ts';

/** Each of them is enough. */
const termsOf = ({ spec }: Placement): readonly Selector[] =>
  (
    spec.policy?.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? []
  ).flatMap(({ labelSelector }) => (labelSelector === undefined ? [] : [compileLabelSelector(labelSelector)]));

export function askedLabels(placement: Placement): readonly Evidence[] {
  const terms = termsOf(placement).map(formatSelector);
  return terms.length === 0 ? [] : [{ about: 'Labels that the policy asks for', says: [terms.join(', or ')] }];
}

/** `env=staging, no region`; empty if the policy asks for no labels. */
export function ownLabels(placement: Placement, { metadata }: MemberCluster): string {
  const keys = new Set(termsOf(placement).flatMap(({ requirements }) => requirements.map(({ key }) => key)));
  const { labels = {} } = metadata;
  return [...keys].map((key) => (Object.hasOwn(labels, key) ? `${key}=${labels[key]}` : `no ${key}`)).join(', ');
}
