// SamePlacementAntiAffinity: a cluster gets a placement once. Among equals it prefers those that have it already, from an earlier policy.
import { nameOf, type Plugin, pass, taken } from '../plugin.ts';

export const samePlacement: Plugin = {
  name: 'SamePlacementAntiAffinity',
  prepare({ obsolete }) {
    return {
      score: (member) => ({ obsolete: obsolete.has(nameOf(member)) ? 1 : 0 }),
      round: (present) => ({ filter: (member) => (present.has(nameOf(member)) ? taken : pass) }),
    };
  },
};
