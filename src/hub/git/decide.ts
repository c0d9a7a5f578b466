// Decides what to do about a GitRepo: a placement per bundle, the status, deletion. Guarantees: nothing is created
// before the finalizer is set; a placement that another client created is never changed; a placement is deleted only if
// its directory is missing from a commit that could be read completely.
import type { GitProblem, GitRepoStatus } from '../../api/git-repo.ts';
import { finalizers } from '../../api/names.ts';
import { deepEqual } from '../../base/json.ts';
import { patch, patchStatus, recordEvent, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, type Failure, idle } from '../../runtime/controller.ts';
import { isLasting } from '../bindings/lasting-failure.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubPlacement } from '../placement-sources.ts';
import type { Followed } from './following.ts';
import { changePlacement, createPlacement, isForeign, type WantedPlacement } from './placements.ts';
import type { RepoBundle } from './render.ts';
import { gitRepos, type HubGitRepo } from './sources.ts';
import { gitRepoStatus } from './status.ts';

export interface Observed {
  readonly repo: HubGitRepo;
  readonly family: PlacementFamily;
  /** The placements whose source is this GitRepo. */
  readonly placements: readonly HubPlacement[];
  /** All placements with the names of its bundles, including those of other clients. */
  readonly named: readonly HubPlacement[];
  readonly followed: Followed;
  /** A commit was read that the status does not record yet. */
  readonly isAhead?: boolean;
  /** Absent = it is being deleted. */
  placementFor?(bundle: RepoBundle): WantedPlacement | GitProblem;
  /** When to read the Secret with the credentials again, because it is not watched. */
  readonly retryAt?: number;
  readonly failure?: Failure;
  readonly now: number;
}

export function decide(observed: Observed): Decision {
  const { repo } = observed;
  if (repo.metadata.deletionTimestamp !== undefined) return decideEnd(observed);
  const kept = repo.metadata.finalizers ?? [];
  if (!kept.includes(finalizers.gitRepoCleanup)) {
    const because = 'nothing is created before the finalizer is set';
    const change = { metadata: { finalizers: [...kept, finalizers.gitRepoCleanup] } };
    return { steps: [[patch(seen(gitRepos, repo), change, because)]], holds: [], because };
  }
  const { changes, problems } = placementsIn(observed);
  const status = statusIn(observed, problems);
  if (observed.isAhead === true && status !== undefined)
    return { steps: status, holds: [], because: 'the status names a commit before anything of it is placed' };
  // After a refusal, the status reports it first, and the changes are retried with back-off.
  if (changes.length > 0 && observed.failure === undefined)
    return { steps: [changes], holds: [], because: changes[0]?.because ?? '' };
  const steps = [...(status === undefined ? [] : status), ...(changes.length === 0 ? [] : [changes])];
  const wakeAt = observed.retryAt === undefined ? {} : { wakeAt: observed.retryAt };
  return steps.length === 0
    ? idle('all bundles have their placements', wakeAt)
    : { steps, holds: [], ...wakeAt, because: steps[0]?.[0]?.because ?? '' };
}

/** Deleting a placement deletes the placed objects, or abandons them with keepResources. */
function decideEnd({ repo, family, placements }: Observed): Decision {
  const kept = repo.metadata.finalizers ?? [];
  if (!kept.includes(finalizers.gitRepoCleanup)) return idle('it is being deleted');
  if (placements.length > 0) {
    const because = 'its GitRepo is deleted';
    const gone = placements
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((each) => remove(seen(family.placements, each), because));
    return gone.length === 0 ? idle('its placements are being deleted') : { steps: [gone], holds: [], because };
  }
  const because = 'no placement is left';
  const left = kept.filter((each) => each !== finalizers.gitRepoCleanup);
  return { steps: [[patch(seen(gitRepos, repo), { metadata: { finalizers: left } }, because)]], holds: [], because };
}

// ---- placements

interface Placements {
  readonly changes: readonly Action[];
  readonly problems: readonly GitProblem[];
}

function placementsIn(observed: Observed): Placements {
  const { repo, family, followed, placements, named, failure } = observed;
  const problems: GitProblem[] = [...(followed.repo?.problems ?? [])];
  const bundles = followed.repo?.bundles;
  const { placementFor } = observed;
  if (failure !== undefined && isLasting(failure))
    problems.push({ reason: 'PlacementRefused', message: failure.message });
  if (bundles === undefined || placementFor === undefined) return { changes: [], problems };
  const changes: Action[] = [];
  const byName = new Map(named.map((each) => [each.metadata.name ?? '', each]));
  for (const bundle of bundles) {
    const existing = byName.get(bundle.name);
    if (existing !== undefined && isForeign(existing, repo)) {
      const message = `${family.placement.kind} "${bundle.name}" exists and is not managed by this GitRepo; delete it, or set name in the fleet.yaml of "${bundle.directory}"`;
      problems.push({ bundle: bundle.name, reason: 'PlacementConflict', message });
      continue;
    }
    if (bundle.objects === undefined || existing?.metadata.deletionTimestamp !== undefined) continue;
    const wanted = placementFor(bundle);
    if ('reason' in wanted) {
      problems.push({ bundle: bundle.name, ...wanted });
      continue;
    }
    const change =
      existing === undefined ? createPlacement(family, repo, wanted) : changePlacement(family, existing, wanted);
    if (change !== undefined) changes.push(change);
  }
  // A bundle that could not be read may have a placement under another name.
  if (followed.repo?.problems.length !== 0) return { changes, problems };
  const names = new Set(bundles.map(({ name }) => name));
  const gone = placements.filter(
    ({ metadata, spec }) => metadata.deletionTimestamp === undefined && !names.has(spec.source?.bundle ?? ''),
  );
  return {
    changes: [
      ...changes,
      ...gone.map((each) => remove(seen(family.placements, each), 'the repository no longer has its directory')),
    ],
    problems,
  };
}

// ---- the status

function statusIn(observed: Observed, problems: readonly GitProblem[]): readonly (readonly Action[])[] | undefined {
  const { repo, followed, placements, now } = observed;
  // The hub has just started: the reports of placements may be about an earlier commit than the one in the status.
  const isUnread = followed.repo === undefined && followed.failure === undefined;
  if (isUnread && repo.status?.commit !== undefined) return undefined;
  const status = gitRepoStatus({
    repo,
    followed,
    problems,
    warnings: followed.repo?.warnings ?? [],
    placements,
    now,
  });
  if (deepEqual(status, repo.status)) return undefined;
  const change = Object.fromEntries(
    [...Object.keys(repo.status ?? {}), ...Object.keys(status)].map((key) => [
      key,
      (status as Readonly<Record<string, unknown>>)[key] ?? null,
    ]),
  );
  const display = change['display'] as GitRepoStatus['display'];
  const written = { ...change, display: { ...display, message: display?.message ?? null } };
  const news = newsOf(repo, status).map((each) => recordEvent(gitRepos, repo, each));
  return [[patchStatus(seen(gitRepos, repo), written, 'the status has changed')], ...(news.length === 0 ? [] : [news])];
}

/** One Event per new commit, and one when a failure begins or changes. */
function newsOf({ status: before }: HubGitRepo, after: GitRepoStatus) {
  const news: { type: 'Normal' | 'Warning'; reason: string; message: string }[] = [];
  if (after.commit !== undefined && after.commit !== before?.commit)
    news.push({ type: 'Normal', reason: 'GotNewCommit', message: `read commit ${after.commit}` });
  for (const type of ['GitPolling', 'Accepted']) {
    const was = before?.conditions?.find((each) => each.type === type);
    const is = after.conditions?.find((each) => each.type === type);
    if (is?.status === 'False' && (was?.status !== 'False' || was.reason !== is.reason))
      news.push({ type: 'Warning', reason: is.reason, message: is.message });
  }
  return news;
}
