// Mutants of how members come and go: what they leave behind on the hub, and what other tools are told of them.
import type { Mutant } from './mutant.ts';

export const membershipMutants: readonly Mutant[] = [
  {
    name: 'says farewell to a member before its identity is deleted',
    danger: 'A hub that dies in between leaves a token behind that is accepted for ever.',
    file: 'src/hub/membership/leave.ts',
    find: 'steps: [...revoked, [action]]',
    replace: 'steps: [[action], ...revoked]',
    caughtBy: 'membership',
  },
  {
    name: 'believes a stale cache that the namespace of a member is deleted',
    danger: 'The member is gone, and its namespace stays with Works that nobody releases.',
    file: 'src/hub/membership/controller.ts',
    find: 'if (see.whole(ref) === undefined) return { need: [ref] };',
    replace: '',
    caughtBy: 'two-leaders',
  },
  {
    name: 'never passes on the health of a member to its ClusterProfile',
    danger: 'Other tools send traffic to a cluster that is silent, or none to one that is back.',
    file: 'src/hub/profiles/controller.ts',
    find: '    health: healthOf(member),\n',
    replace: '',
    caughtBy: 'membership',
  },
  {
    name: 'believes a watch that is behind when it looks for the identity of a member that leaves',
    danger: 'A token, or the right to issue one, outlives its member.',
    file: 'src/hub/membership/controller.ts',
    find: 'if (unasked.length > 0) return { need: [], ask: unasked.map((source) => ({ source, part })) };',
    replace: '',
    caughtBy: 'two-leaders',
  },
];
