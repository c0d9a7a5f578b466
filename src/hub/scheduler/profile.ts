// The plugins in the order in which they judge: the first rejection gives the reason. Plugins with rounds come last.
import type { Plugin } from './plugin.ts';
import { clusterAffinity } from './plugins/cluster-affinity.ts';
import { clusterEligibility } from './plugins/cluster-eligibility.ts';
import { namespaceAffinity } from './plugins/namespace-affinity.ts';
import { samePlacement } from './plugins/same-placement.ts';
import { taintToleration } from './plugins/taint-toleration.ts';
import { topologySpread } from './plugins/topology-spread.ts';

export const profile: readonly Plugin[] = [
  clusterAffinity,
  clusterEligibility,
  namespaceAffinity,
  taintToleration,
  samePlacement,
  topologySpread,
];
