// SamePlacementAntiAffinity: a cluster gets a placement only once. Among equals it prefers clusters that have the
// placement already, from an earlier policy.
import { nameOf, type Plugin, pass, taken } from '../plugin.ts';

const HAD = Object.freeze({ obsolete: 1 });
const NEW = Object.freeze({ obsolete: 0 });

export const samePlacement: Plugin = {
  name: 'SamePlacementAntiAffinity',
  prepare({ obsolete }) {
    return {
      score: (member) => (obsolete.size > 0 && obsolete.has(nameOf(member)) ? HAD : NEW),
      round: (present) => ({ filter: (member) => (present.has(nameOf(member)) ? taken : pass) }),
    };
  },
};
