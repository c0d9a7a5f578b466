// `flotilla status|why|sync gitrepo/NAME`: the progress of a Git repository, what blocks it, and reading it now.
import { type GitRepo, gitRepo, problemText } from '../../api/git-repo.ts';
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { UserError } from '../../base/errors.ts';
import type { Explanation } from '../../insight/explain/explanation.ts';
import { type Named, titled } from '../../insight/titled.ts';
import { NAME } from '../../insight/which-placement.ts';
import type { Connected } from '../server/connect.ts';
import { getOr404 } from '../server/not-found.ts';
import { type Print, refer } from '../server/target.ts';
import { align } from '../terminal/format-table.ts';
import { forPrograms } from '../terminal/output.ts';
import { EXIT, type Shown, type ShowOptions, show } from '../terminal/showing.ts';
import { renderWhy } from '../why/render-why.ts';
import type { WhyOptions } from '../why/why.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

const WORDS: readonly string[] = ['gitrepo', 'gitrepos'];
const kindIn = (argument: string): string => argument.toLowerCase().split('/')[0]?.split('.')[0] ?? '';

export const namesGitRepo = (argument: string): boolean => argument.includes('/') && WORDS.includes(kindIn(argument));

/** Without a namespace, one in the system namespace, which creates ClusterResourcePlacements. */
export function whichGitRepo(argument: string, namespace = SYSTEM_NAMESPACE): Named {
  const [, name = '', ...rest] = argument.split('/');
  if (!namesGitRepo(argument) || !NAME.test(name) || rest.length > 0) {
    throw new UserError('BadArgument', `"${argument}" names no GitRepo: write gitrepo/NAME, such as gitrepo/shop`);
  }
  return { resource: gitRepo, name, namespace };
}

const getGitRepo = async (server: Server, at: Named): Promise<GitRepo> => (await getOr404(server, at)) as GitRepo;

// ---- sync

/** Asks the hub to read the repository now; the next poll stays as scheduled. */
export async function syncGitRepo(server: Server, at: Named, print: Print): Promise<void> {
  const { spec, metadata } = await getGitRepo(server, at);
  if (metadata.deletionTimestamp !== undefined)
    throw new UserError('Deleting', `${titled(at)} is being deleted: its repository is no longer read`);
  const next = (spec.syncGeneration ?? 0) + 1;
  const { warnings = [] } = await server.transport.call({
    verb: 'patch',
    at,
    patch: { type: 'merge', body: { spec: { syncGeneration: next } } },
    manager: 'flotilla',
  });
  for (const warning of warnings) print.warning(warning);
  print.line(`${refer(at)} sync requested; see it with: flotilla status ${argumentOf(at)} --watch`);
}

const argumentOf = ({ name, namespace }: Named): string =>
  `gitrepo/${name}${namespace === SYSTEM_NAMESPACE ? '' : ` -n ${namespace}`}`;

// ---- status

/** Returns the exit code. */
export async function showGitRepo(server: Server, at: Named, options: ShowOptions, print: Print): Promise<number> {
  return show(server.transport, shownOf(at), { now: await getGitRepo(server, at), options, print });
}

/** The status counts once it is about the present generation. */
const isReady = ({ metadata, status }: GitRepo): boolean =>
  status?.observedGeneration === metadata.generation && conditionOf(status?.conditions, 'Ready')?.status === 'True';

const SHORT = 12;

function headlineOf({ status }: GitRepo): string {
  const { display, commit } = status ?? {};
  const at = commit === undefined ? 'no commit read yet' : `commit ${commit.slice(0, SHORT)}`;
  return `${display?.state ?? 'Pending'}: ${display?.readyBundleDeployments ?? '0/0'} bundle deployments ready, ${at}`;
}

const COUNTERS = [
  ['waitApplied', 'WaitApplied'],
  ['errApplied', 'ErrApplied'],
  ['notReady', 'NotReady'],
  ['outOfSync', 'OutOfSync'],
  ['modified', 'Modified'],
  ['pending', 'Pending'],
] as const;

/** In the terms of Rancher Fleet; empty while everything is ready. */
function countsOf({ status }: GitRepo): readonly string[] {
  const counts = COUNTERS.flatMap(([field, word]) => {
    const count = status?.summary?.[field] ?? 0;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.length === 0 ? [] : [`Not ready yet: ${counts.join(', ')}`];
}

function textOf(at: Named, repo: GitRepo): string {
  const { bundles = [], problems = [], warnings = [], conditions } = repo.status ?? {};
  const rows = bundles.map(({ name, path, state, readyClusters = '' }) => [
    `  ${name}`,
    path === '' ? '.' : path,
    readyClusters,
    state,
  ]);
  const polling = conditionOf(conditions, 'GitPolling');
  return [
    `${titled(at)}: ${headlineOf(repo)}`,
    ...countsOf(repo),
    ...(polling?.status === 'False' ? [`Repository: ${polling.reason}: ${polling.message}`] : []),
    ...problems.map((each) => `Problem: ${problemText(each)}`),
    ...warnings.map((each) => `Warning: ${problemText(each)}`),
    ...(rows.length === 0 ? [] : [align([['  BUNDLE', 'PATH', 'READY', 'STATE'], ...rows])]),
  ].join('\n');
}

const shownOf = (at: Named): Shown<GitRepo> => ({
  at,
  look: (object) => object as GitRepo,
  exit: (repo) => (isReady(repo) ? EXIT.complete : EXIT.waiting),
  headline: headlineOf,
  text: (repo) => textOf(at, repo),
  changes: (before, after) => {
    const was = new Set(before === undefined ? [] : textOf(at, before).split('\n'));
    return textOf(at, after)
      .split('\n')
      .filter((line) => !was.has(line));
  },
  json: ({ status = {}, metadata }) => ({ name: metadata.name, namespace: metadata.namespace, ...status }),
});

// ---- why

/** Returns the exit code. */
export async function whyGitRepo(server: Server, at: Named, options: WhyOptions, print: Print): Promise<number> {
  if (options.cluster !== undefined) {
    const message = `--cluster needs a placement: ask "flotilla why placement/BUNDLE --cluster ${options.cluster}"`;
    throw new UserError('BadArgument', message);
  }
  const explanation = explainGitRepo(at, await getGitRepo(server, at));
  print.line(forPrograms(options.output, () => explanation) ?? renderWhy(explanation, options.clock.now()));
  return explanation.isWaiting ? EXIT.waiting : EXIT.complete;
}

/** The repository first, then its bundles, then their rollouts. Pure. */
export function explainGitRepo(at: Named, repo: GitRepo): Explanation {
  const about = titled(at);
  const { status = {}, metadata } = repo;
  const nothing = { about, isWaiting: true, causes: [], next: [], notes: [] };
  const polling = conditionOf(status.conditions, 'GitPolling');
  if (status.observedGeneration !== metadata.generation || polling === undefined || polling.status === 'Unknown')
    return {
      ...nothing,
      sentence: `${about} waits: the hub has not read the repository yet`,
      next: ['check that the hub is running'],
    };
  if (polling.status === 'False') {
    return {
      ...nothing,
      label: 'Blocked',
      root: polling.message,
      sentence: `${about} waits: the repository cannot be read (${polling.reason})`,
      since: Date.parse(polling.lastTransitionTime),
      next: ['correct the GitRepo, its Secret or the server', `try now: flotilla sync ${argumentOf(at)}`],
    };
  }
  const { problems = [], bundles = [] } = status;
  const [first] = problems;
  if (first !== undefined) {
    const accepted = conditionOf(status.conditions, 'Accepted');
    return {
      ...nothing,
      label: 'Blocked',
      root: problemText(first),
      sentence: `${about} waits: commit ${status.commit?.slice(0, SHORT)} cannot be placed as a whole; the bundles named here keep their last revision`,
      ...(accepted === undefined ? {} : { since: Date.parse(accepted.lastTransitionTime) }),
      causes: problems.map((each) => ({ code: each.reason, sentence: problemText(each), evidence: [] })),
      next: ['correct the files and commit them'],
    };
  }
  const open = bundles.filter(({ state }) => state !== 'Ready');
  if (open.length === 0)
    return { ...nothing, isWaiting: false, sentence: `${about} is complete: all bundles are ready on all clusters` };
  const scope = at.namespace === SYSTEM_NAMESPACE ? '' : ` -n ${at.namespace}`;
  return {
    ...nothing,
    ...(open.some(({ state }) => state === 'ErrApplied') ? { label: 'Blocked' as const } : {}),
    sentence: `${about} waits: ${open.length} of ${bundles.length} bundles are not ready`,
    causes: open.map(({ name, state, readyClusters = '0/0' }) => ({
      code: state,
      sentence: `bundle "${name}" is ${state}: ${readyClusters} clusters are ready`,
      evidence: [],
      next: `flotilla why placement/${name}${scope}`,
    })),
    next: open.slice(0, 3).map(({ name }) => `flotilla why placement/${name}${scope}`),
  };
}
