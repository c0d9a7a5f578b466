// Follows repositories: one poll per URL, ref and credentials, however many GitRepos use it, and one reading per
// GitRepo and commit. Guarantee: a failure keeps what was read before; retries back off up to a maximum; outdated
// results are dropped.
import type { GitProblem } from '../../api/git-repo.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Random } from '../../base/random.ts';
import { backOffMs } from '../../runtime/back-off.ts';
import { isRead } from './paths.ts';
import type { RenderedRepo } from './render.ts';
import { type GitClient, GitError, type GitFile, type GitSource } from './repository.ts';

export interface Wanted {
  readonly source: GitSource;
  /** undefined = no polling, only when something changes. */
  readonly intervalMs: number | undefined;
  /** A changed value polls the repository now. */
  readonly force: string;
  /** Everything besides the commit that the result of a reading depends on. */
  readonly options: string;
  /** The commit in the status of the GitRepo: among the commits on disk, only this one is known to be the newest. */
  readonly placed: string | undefined;
  /** Renders files to bundles. */
  read(files: readonly GitFile[], again: ReadAgain): Promise<RenderedRepo>;
}

/** Reads the same commit again, with the texts of the files that `reads` accepts. */
export type ReadAgain = (reads: (path: string) => boolean) => Promise<readonly GitFile[]>;

export interface Followed {
  /** The commit of `repo`. */
  readonly commit?: string;
  readonly repo?: RenderedRepo;
  /** Why the newest commit is unknown or could not be read. */
  readonly failure?: GitFailure;
  /** A requested reading has not finished yet: `repo` is from before. */
  readonly isPending?: true;
}

export interface GitFailure extends Pick<GitProblem, 'message'> {
  readonly reason: string;
}

export interface Following {
  /** Starts to follow the repository and returns what is known. */
  follow(key: string, wanted: Wanted): Followed;
  forget(key: string): void;
  /** `wake` is called with the key of a GitRepo whose result has changed. */
  start(wake: (key: string) => void, signal: AbortSignal): void;
}

export interface FollowingOptions {
  readonly client: GitClient;
  readonly clock: Clock;
  readonly random: Random;
}

const BACK_OFF = { firstMs: 2_000, maxMs: 5 * 60_000 };
const JITTER = 0.1;

interface Poll {
  readonly id: string;
  readonly source: GitSource;
  readonly followers: Set<string>;
  commit: string | undefined;
  /** The commit was fetched before a restart. Another hub may have led since, and read newer ones. */
  isKept: boolean;
  failure: GitFailure | undefined;
  failures: number;
  /** Requested during a poll. */
  isAsked: boolean;
  isRunning: boolean;
  cancel: (() => void) | undefined;
}

interface Follower {
  wanted: Wanted;
  poll: Poll;
  followed: Followed;
  /** The commit and options that are being read, or were last read. */
  reading: string;
  isForced: boolean;
  /** Retries of one reading, because programs were missing or too slow. */
  retries: number;
  cancelRetry: (() => void) | undefined;
}

export function createFollowing({ client, clock, random }: FollowingOptions): Following {
  const polls = new Map<string, Poll>();
  const followers = new Map<string, Follower>();
  let wake: (key: string) => void = () => {};
  let ends: AbortSignal = new AbortController().signal;

  function schedule(poll: Poll): void {
    poll.cancel?.();
    poll.cancel = undefined;
    if (ends.aborted || polls.get(poll.id) !== poll) return;
    const wait = waitOf(poll);
    if (wait === undefined) return;
    poll.cancel = clock.at(clock.now() + wait, 'git poll', () => ask(poll));
  }

  /** undefined = no next poll until something changes. */
  function waitOf(poll: Poll): number | undefined {
    const intervals = [...poll.followers].flatMap((key) => followers.get(key)?.wanted.intervalMs ?? []);
    const interval = intervals.length === 0 ? undefined : Math.min(...intervals);
    if (poll.failures > 0) return Math.max(interval ?? 0, backOffMs(BACK_OFF, poll.failures, random));
    // A commit never changes.
    if (interval === undefined || isCommit(poll.source.revision)) return undefined;
    return interval * (1 - JITTER + 2 * JITTER * random.next());
  }

  function ask(poll: Poll): void {
    poll.cancel?.();
    poll.cancel = undefined;
    if (ends.aborted) return;
    if (poll.isRunning) {
      poll.isAsked = true;
      return;
    }
    poll.isRunning = true;
    void fetched(poll).finally(() => {
      poll.isRunning = false;
      const isAsked = poll.isAsked;
      poll.isAsked = false;
      if (isAsked) ask(poll);
      else schedule(poll);
    });
  }

  async function fetched(poll: Poll): Promise<void> {
    const before = poll.failure;
    try {
      poll.commit = await client.fetch(poll.source, poll.commit, ends);
      poll.isKept = false;
      poll.failure = undefined;
      poll.failures = 0;
    } catch (error) {
      if (ends.aborted) return;
      poll.failures++;
      poll.failure = failureOf(error);
      if (poll.commit === undefined) {
        poll.commit = await client.kept(poll.source).catch(() => undefined);
        poll.isKept = true;
      }
    }
    if (ends.aborted) return;
    for (const key of poll.followers) {
      const follower = followers.get(key);
      if (follower?.followed.failure !== undefined || follower?.isForced) follower.reading = '';
      if (poll.failure !== undefined && follower !== undefined) follower.isForced = false;
      // A poll that was requested meanwhile gets its result from the next fetch.
      readBy(key, !poll.isAsked);
    }
    // A failed poll always requeues, so that the next attempt uses the present credentials of the Secret.
    if (poll.failure !== undefined || before !== undefined) for (const key of poll.followers) wake(key);
  }

  /** `isAnswer`: the commit was fetched after the latest request. */
  function readBy(key: string, isAnswer = false): void {
    const follower = followers.get(key);
    const commit = follower?.poll.commit;
    if (follower === undefined || commit === undefined) return;
    const { wanted, poll } = follower;
    if (poll.isKept && commit !== wanted.placed) return;
    const reading = `${commit} ${wanted.options}`;
    if (follower.reading === reading) return;
    if (follower.reading !== '') follower.retries = 0;
    follower.reading = reading;
    follower.cancelRetry?.();
    const isCurrent = () => !ends.aborted && followers.get(key) === follower && follower.reading === reading;
    const read = async (): Promise<Followed> => {
      try {
        const again: ReadAgain = (reads) => client.files(poll.source, commit, reads, ends);
        return { commit, repo: await wanted.read(await again(isRead), again) };
      } catch (error) {
        // Read again with the next poll.
        return { ...follower.followed, failure: failureOf(error) };
      }
    };
    void read().then((followed) => {
      if (!isCurrent()) return;
      follower.followed = followed;
      if (isAnswer) follower.isForced = false;
      if (followed.repo?.mayPass === true) retry(key, follower);
      wake(key);
    });
  }

  function retry(key: string, follower: Follower): void {
    const waitMs = backOffMs(BACK_OFF, ++follower.retries, random);
    follower.cancelRetry = clock.at(clock.now() + waitMs, 'git render', () => {
      follower.reading = '';
      readBy(key);
    });
  }

  function leave(key: string, poll: Poll): void {
    poll.followers.delete(key);
    if (poll.followers.size > 0) return;
    poll.cancel?.();
    polls.delete(poll.id);
  }

  function pollFor(source: GitSource): Poll {
    const id = sha256(canonicalJson(source));
    const known = polls.get(id);
    if (known !== undefined) return known;
    const poll: Poll = {
      id,
      source,
      followers: new Set(),
      commit: undefined,
      isKept: false,
      failure: undefined,
      failures: 0,
      isAsked: false,
      isRunning: false,
      cancel: undefined,
    };
    polls.set(id, poll);
    return poll;
  }

  return {
    follow(key, wanted) {
      const known = followers.get(key);
      const poll = pollFor(wanted.source);
      if (known !== undefined && known.poll !== poll) leave(key, known.poll);
      const isNew = known?.poll !== poll;
      const isForced = known !== undefined && known.wanted.force !== wanted.force;
      const hasOther = known?.wanted.intervalMs !== wanted.intervalMs;
      // Another branch or URL: the former result is kept as the last good state.
      const follower: Follower = known ?? {
        wanted,
        poll,
        followed: {},
        reading: '',
        isForced: false,
        retries: 0,
        cancelRetry: undefined,
      };
      follower.wanted = wanted;
      follower.poll = poll;
      followers.set(key, follower);
      poll.followers.add(key);
      if (isForced) follower.isForced = true;
      const isUnknown = poll.commit === undefined && poll.failure === undefined && !poll.isRunning;
      if ((isNew && isUnknown) || isForced) ask(poll);
      else if (isNew || hasOther) {
        if (!poll.isRunning && (poll.failures === 0 || isNew)) schedule(poll);
      }
      readBy(key);
      const failure = poll.failure ?? follower.followed.failure;
      const { failure: _own, ...followed } = follower.followed;
      return {
        ...followed,
        ...(failure === undefined ? {} : { failure }),
        ...(follower.isForced ? { isPending: true } : {}),
      };
    },
    forget(key) {
      const known = followers.get(key);
      if (known === undefined) return;
      followers.delete(key);
      known.cancelRetry?.();
      leave(key, known.poll);
    },
    start(to, signal) {
      wake = to;
      ends = signal;
      signal.addEventListener(
        'abort',
        () => {
          for (const poll of polls.values()) poll.cancel?.();
          for (const follower of followers.values()) follower.cancelRetry?.();
        },
        { once: true },
      );
    },
  };
}

const isCommit = (revision: string | undefined): boolean => /^[0-9a-f]{40}$/.test(revision ?? '');

const failureOf = (error: unknown): GitFailure => ({
  reason: error instanceof GitError ? error.reason : 'FetchFailed',
  message: messageOf(error),
});
