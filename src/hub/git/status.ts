// The status of a GitRepo, in the terms of Rancher Fleet: counts of bundles and clusters by state, and problems with
// file and line. Pure.
import type { Condition } from '../../api/conditions.ts';
import {
  type GitProblem,
  type GitRepoStatus,
  MAX_LISTED_BUNDLES,
  MAX_LISTED_PROBLEMS,
  problemText,
} from '../../api/git-repo.ts';
import { conditionOf, type Finding, nextCondition } from '../../api/next-condition.ts';
import { ROLLOUT_WORDS, type RolloutWord } from '../../api/rollout-state.ts';
import { by } from '../../base/compare.ts';
import type { HubPlacement } from '../placement-sources.ts';
import type { Followed } from './following.ts';
import { problemsInOrder } from './render.ts';
import type { HubGitRepo } from './sources.ts';

export interface StatusInput {
  readonly repo: HubGitRepo;
  readonly followed: Followed;
  readonly problems: readonly GitProblem[];
  readonly warnings: readonly GitProblem[];
  /** The placements of the GitRepo. */
  readonly placements: readonly HubPlacement[];
  readonly now: number;
}

const COUNTERS = [
  'desiredReady',
  'ready',
  'notReady',
  'pending',
  'outOfSync',
  'modified',
  'waitApplied',
  'errApplied',
] as const;

const MAX_MESSAGE = 2048;

export function gitRepoStatus(input: StatusInput): GitRepoStatus {
  const { repo, followed, placements } = input;
  const problems = problemsInOrder(input.problems);
  const warnings = problemsInOrder(input.warnings);
  const states = placements.map(({ rollout }) => rollout?.state ?? 'Pending');
  const summary = Object.fromEntries(
    COUNTERS.map((name) => [name, placements.reduce((sum, { rollout }) => sum + (rollout?.[name] ?? 0), 0)]),
  ) as Record<(typeof COUNTERS)[number], number>;
  const worst = worstOf(states);
  const message = shorter(followed.failure?.message ?? (problems[0] && problemText(problems[0])) ?? '');
  const directories = new Map((followed.repo?.bundles ?? []).map(({ name, directory }) => [name, directory]));
  const commit = followed.commit ?? repo.status?.commit;
  return {
    observedGeneration: followed.isPending === true ? repo.status?.observedGeneration : repo.metadata.generation,
    ...(commit === undefined ? {} : { commit }),
    conditions: conditionsOf(input, problems, worst),
    display: {
      readyBundleDeployments: `${summary.ready}/${summary.desiredReady}`,
      state: placements.length === 0 ? 'Pending' : worst,
      ...(message === '' ? {} : { message }),
    },
    summary,
    ...(placements.length === 0
      ? {}
      : {
          bundles: placements
            .map(({ spec, metadata, rollout }) => ({
              name: metadata.name ?? '',
              path: directories.get(spec.source?.bundle ?? '') ?? '',
              state: rollout?.state ?? ('Pending' as const),
              ...(rollout?.readyClusters === undefined ? {} : { readyClusters: rollout.readyClusters }),
            }))
            .toSorted(by(({ name }) => name))
            .slice(0, MAX_LISTED_BUNDLES),
        }),
    ...listed('problems', problems),
    ...listed('warnings', warnings),
  };
}

const shorter = (text: string): string => (text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE - 1)}…`);

const listed = (name: 'problems' | 'warnings', list: readonly GitProblem[]) =>
  list.length === 0
    ? {}
    : { [name]: list.slice(0, MAX_LISTED_PROBLEMS).map((each) => ({ ...each, message: shorter(each.message) })) };

const worstOf = (states: readonly RolloutWord[]): RolloutWord =>
  ROLLOUT_WORDS.findLast((state) => states.includes(state)) ?? 'Ready';

function conditionsOf(
  { repo, followed, placements, now }: StatusInput,
  problems: readonly GitProblem[],
  worst: RolloutWord,
): readonly Condition[] {
  const previous = repo.status?.conditions;
  const { failure, commit } = followed;
  const findings: Omit<Finding, 'observedGeneration'>[] = [
    failure !== undefined
      ? { type: 'GitPolling', status: 'False', reason: failure.reason, message: shorter(failure.message) }
      : commit === undefined
        ? { type: 'GitPolling', status: 'Unknown', reason: 'Polling', message: 'the repository is being read' }
        : { type: 'GitPolling', status: 'True', reason: 'Polled', message: `commit ${commit} is the newest` },
    accepted(followed, problems),
    ready(followed, placements, problems, worst),
  ];
  return findings.map((finding) =>
    nextCondition(
      conditionOf(previous, finding.type),
      { ...finding, observedGeneration: repo.metadata.generation ?? 0 },
      now,
    ),
  );
}

type Said = Omit<Finding, 'observedGeneration'>;

function accepted({ repo }: Followed, problems: readonly GitProblem[]): Said {
  const [first] = problems;
  if (first !== undefined) {
    const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
    return {
      type: 'Accepted',
      status: 'False',
      reason: first.reason,
      message: `${shorter(problemText(first))}${more}`,
    };
  }
  if (repo === undefined)
    return { type: 'Accepted', status: 'Unknown', reason: 'NotRead', message: 'no commit has been read yet' };
  const bundles = repo.bundles.length;
  const message = `${bundles} ${bundles === 1 ? 'bundle is' : 'bundles are'} placed`;
  return { type: 'Accepted', status: 'True', reason: 'Accepted', message };
}

function ready(
  followed: Followed,
  placements: readonly HubPlacement[],
  problems: readonly GitProblem[],
  worst: RolloutWord,
): Said {
  if (followed.failure !== undefined || problems.length > 0)
    return {
      type: 'Ready',
      status: 'False',
      reason: followed.failure === undefined ? 'NotAccepted' : 'NotPolled',
      message: 'the newest commit is not placed; the last one that could be read stays',
    };
  if (placements.length === 0)
    return { type: 'Ready', status: 'False', reason: 'Pending', message: 'no bundle has been placed yet' };
  if (worst === 'Ready')
    return { type: 'Ready', status: 'True', reason: 'Ready', message: 'all bundles are ready on all clusters' };
  const parts = placements
    .filter(({ rollout }) => rollout?.state !== 'Ready')
    .map(({ metadata, rollout }) => `${rollout?.state ?? 'Pending'} [Bundle ${metadata.name}]`)
    .toSorted();
  return { type: 'Ready', status: 'False', reason: worst, message: shorter(parts.join('; ')) };
}
