// The API groups of our kinds.
import type { Group } from './build.ts';

export const clusterGroup: Group = {
  group: 'cluster.kubernetes-fleet.io',
  categories: ['fleet', 'fleet-cluster'],
  stored: 'v1beta1',
};

export const placementGroup: Group = {
  group: 'placement.kubernetes-fleet.io',
  categories: ['fleet', 'fleet-placement'],
  stored: 'v1beta1',
};

/** Kinds that KubeFleet does not have. */
export const flotillaGroup: Group = { group: 'flotilla.dev', categories: ['flotilla'], stored: 'v1alpha1' };

/** The cluster inventory of SIG Multicluster; the hub mirrors its members there. */
export const inventoryGroup: Group = { group: 'multicluster.x-k8s.io', categories: [], stored: 'v1alpha1' };

// Served versions, most preferred first. Every served version of a kind has the same fields and rules.
// Differs from KubeFleet: its v1 and v1alpha1 lack fields of v1beta1, so a read and write through them (kubectl edit
// picks v1) erases those fields.
export const V1 = ['v1', 'v1beta1'];
export const V1_AND_ALPHA = ['v1', 'v1beta1', 'v1alpha1'];
export const BETA = ['v1beta1'];
export const ALPHA = ['v1alpha1'];
export const BETA_AND_ALPHA = ['v1beta1', 'v1alpha1'];
