// The labels that a policy requires, in the format of kubectl, and which of them a cluster has. Pure.
import type { MemberCluster } from '../../api/member-cluster.ts';
import type { Placement } from '../../api/placement.ts';
import { compileLabelSelector, formatSelector, type Selector } from '../../base/selector.ts';
import type { Evidence } from './explanation.ts';

/** One matching term is enough. */
const termsOf = ({ spec }: Placement): readonly Selector[] =>
  (
    spec.policy?.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? []
  ).flatMap(({ labelSelector }) => (labelSelector === undefined ? [] : [compileLabelSelector(labelSelector)]));

export function askedLabels(placement: Placement): readonly Evidence[] {
  const terms = termsOf(placement).map(formatSelector);
  return terms.length === 0 ? [] : [{ about: 'Labels that the policy asks for', says: [terms.join(', or ')] }];
}

/** `env=staging, no region`; empty if the policy requires no labels. */
export function ownLabels(placement: Placement, { metadata }: MemberCluster): string {
  const keys = new Set(termsOf(placement).flatMap(({ requirements }) => requirements.map(({ key }) => key)));
  const { labels = {} } = metadata;
  return [...keys].map((key) => (Object.hasOwn(labels, key) ? `${key}=${labels[key]}` : `no ${key}`)).join(', ');
}
