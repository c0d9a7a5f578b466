// Quarantine: a cluster with the annotation example.com/quarantine is not picked while its value is "true".
import type { MemberCluster } from '../../src/api/member-cluster.ts';
import { type Plugin, pass, unfit } from '../../src/hub/scheduler/plugin.ts';

const QUARANTINE = 'example.com/quarantine';
const PENALTY = 50;

const IN_QUARANTINE = unfit(`cluster is in quarantine (annotation ${QUARANTINE})`);

const valueOn = ({ metadata }: MemberCluster): string | undefined => metadata.annotations?.[QUARANTINE];
const isIn = (member: MemberCluster): boolean => valueOn(member) === 'true';

export const quarantine: Plugin = {
  name: 'Quarantine',
  prepare({ members }) {
    // Nothing to judge: the plugin costs nothing in this cycle.
    if (members.every((member) => valueOn(member) === undefined)) return undefined;
    return {
      filter: (member) => (isIn(member) ? IN_QUARANTINE : pass),
      score: (member) => ({ affinity: valueOn(member) === 'lifted' ? -PENALTY : 0 }),
    };
  },
  admits: ({ older, newer }) => older !== undefined && isIn(older) && !isIn(newer),
};
