// `clusterName` of a target, a customization or a partition (spec 08 §4): the name of a member, or its display name in
// Rancher.
import { labels } from './names.ts';
import type { Labels } from './object.ts';

/** Labels of a member that contain a name; the first one is on every member. */
export const CLUSTER_NAME_LABELS = [labels.memberName, 'management.cattle.io/cluster-display-name'] as const;

export const isNamed = (
  name: string,
  { cluster, labels: own }: { readonly cluster: string; readonly labels: Labels },
) => CLUSTER_NAME_LABELS.some((key) => (key === labels.memberName ? cluster : own[key]) === name);
