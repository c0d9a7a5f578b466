// What our admission warns of and a server that merely has the CRDs does not. Each line is left out of every comparison.
import type { Step } from './script.ts';

const TEXTS = [
  'needs a policy that picks exactly one cluster; ',
  'matches nothing on the hub now: ',
  'has no labelSelector: stage ',
  'spec.stages is empty: ',
  'maxUnavailable is 0: ',
  'clusterNames is empty: ',
  'neither maxUnavailable nor minAvailable: ',
  'has placementType PickFixed: ',
];

export const OWN_WARNING: NonNullable<Step['without']>[number] = {
  line: new RegExp(TEXTS.map((text) => text.replaceAll('.', '\\.')).join('|')),
  known: 'own-warnings',
};
