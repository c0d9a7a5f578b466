// Mutants of joining and leaving: what members leave behind on the hub, and what other tools see of them.
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
    name: 'believes stale caches that the namespace of a member is deleted, and what its identity is',
    danger:
      'The member is gone, and what it had on the hub stays: its namespace with Works that nobody releases, or its token.',
    file: 'src/hub/membership/controller.ts',
    find: `        if (view.getFull(ref) === undefined) return { need: [ref] };
        // Without the right to list them a member must still be able to leave; any other trouble passes, and a token must not outlive it.
        const unlisted = joinedIdentities.filter(
          (source) => view.listOnDemand(source) === undefined && view.listError(source)?.reason !== 'Forbidden',
        );
        if (unlisted.length > 0) return { need: [], watch: unlisted };
        // A watch may be behind, and what it does not show yet would outlive the member.
        const part = { labels: \`\${labels.joinedMember}=\${key}\` };
        const unasked = joinedIdentities.filter(
          (source) => view.listOnDemand(source) !== undefined && view.isRefreshed?.(source, part) === false,
        );
        if (unasked.length > 0) return { need: [], ask: unasked.map((source) => ({ source, part })) };
`,
    replace: `        const unlisted = joinedIdentities.filter(
          (source) => view.listOnDemand(source) === undefined && view.listError(source)?.reason !== 'Forbidden',
        );
        if (unlisted.length > 0) return { need: [], watch: unlisted };
`,
    caughtBy: 'two-leaders',
    alone: true,
  },
  {
    name: 'never passes on the health of a member to its ClusterProfile',
    danger: 'Other tools send traffic to a cluster that is silent, or none to one that is back.',
    file: 'src/hub/profiles/controller.ts',
    find: '    health: healthOf(member),\n',
    replace: '',
    caughtBy: 'membership',
  },
];
