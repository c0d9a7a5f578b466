// Mutants of repositories: clusters then get content of no commit, of an earlier one, or lose objects because of a
// mistake in a file.
import type { Mutant } from './mutant.ts';

export const gitMutants: readonly Mutant[] = [
  {
    name: 'reads the commit on its own disk, whatever was placed since',
    danger: 'A hub that leads again during an outage of the Git server takes the fleet back to an old commit.',
    file: 'src/hub/git/following.ts',
    find: 'if (poll.isKept && commit !== wanted.placed) return;',
    replace: 'if (poll.isKept && wanted.placed === undefined) return;',
    caughtBy: 'git',
  },
  {
    name: 'deletes placements by a commit that could not be read as a whole',
    danger: 'A tab in a fleet.yaml removes an application from all clusters.',
    file: 'src/hub/git/decide.ts',
    find: 'if (followed.repo?.problems.length !== 0) return { changes, problems };',
    replace: 'if (followed.repo === undefined) return { changes, problems };',
    caughtBy: 'git',
  },
  {
    name: 'places the readable part of a directory',
    danger: 'Clusters lose the objects of the file with the mistake.',
    file: 'src/hub/git/render.ts',
    find: '...(own.length > 0\n',
    replace: '...(own.length > 1\n',
    caughtBy: 'git-namespaced',
  },
  {
    name: 'rolls out content by the options of another commit',
    danger: 'A commit that pauses the bundle and changes it reaches some clusters all the same.',
    file: 'src/hub/orders/of-one-commit.ts',
    find: 'if (made !== wanted) {',
    replace: 'if (made !== wanted && policySnapshot === undefined) {',
    caughtBy: 'git',
  },
  {
    name: 'rolls out before the scheduler has seen the targets of the commit',
    danger: 'A cluster that the commit excludes gets its content first.',
    file: 'src/hub/orders/of-one-commit.ts',
    find: 'if (isScheduledNow(placement, policySnapshot)) return undefined;',
    replace: 'if (policySnapshot !== undefined) return undefined;',
    caughtBy: 'git',
    alone: true,
  },
  {
    name: 'believes a reading that has been overtaken',
    danger: 'The files of an earlier commit come late and are placed last.',
    file: 'src/hub/git/following.ts',
    find: 'if (!isCurrent()) return;',
    replace: 'if (ends.aborted) return;',
    caughtBy: 'git',
    alone: true,
  },
  {
    name: 'takes what a placement reports for a report on the newest revision',
    danger: 'The GitRepo is Ready, a pipeline goes on, and the clusters run the commit before.',
    file: 'src/hub/git/up-to-now.ts',
    find: "(isMade(input) && (rollout.state !== 'Ready' || isReported(input)))",
    replace: 'isMade(input)',
    caughtBy: 'git',
  },
];
