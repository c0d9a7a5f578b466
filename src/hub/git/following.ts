// Follows repositories: one poll per URL, ref and credentials, however many GitRepos name it, and one reading per GitRepo and commit.
// Guarantee: a failure keeps what was read before; the next attempt waits ever longer, up to a limit; results that came too late are dropped.
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
  /** undefined = only when something changes. */
  readonly intervalMs: number | undefined;
  /** A change of it asks the repository now. */
  readonly force: string;
  /** What the reading depends on besides the commit. */
  readonly options: string;
  /** The commit that the GitRepo names: of those that are kept here, only this one is known to be the newest. */
  readonly placed: string | undefined;
  /** Makes bundles of files. */
  read(files: readonly GitFile[], again: ReadAgain): Promise<RenderedRepo>;
}

/** The files of the same commit, with the texts that `reads` asks for. */
export type ReadAgain = (reads: (path: string) => boolean) => Promise<readonly GitFile[]>;

export interface Followed {
  /** The commit of `repo`. */
  readonly commit?: string;
  readonly repo?: RenderedRepo;
  /** Why the newest commit is not known or could not be read. */
  readonly failure?: GitFailure;
  /** A reading that was asked for has not ended yet: what is known is of before. */
  readonly isPending?: true;
}

export interface GitFailure extends Pick<GitProblem, 'message'> {
  readonly reason: string;
}

export interface Following {
  /** What is known; from now on the repository is followed. */
  follow(key: string, wanted: Wanted): Followed;
  forget(key: string): void;
  /** Called with the key of a GitRepo about which something is new. */
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
  /** The commit was fetched in an earlier life. Another hub may have led since, and read newer ones. */
  isKept: boolean;
  failure: GitFailure | undefined;
  failures: number;
  /** Asked for while a poll was under way. */
  isAsked: boolean;
  isRunning: boolean;
  cancel: (() => void) | undefined;
}

interface Follower {
  wanted: Wanted;
  poll: Poll;
  followed: Followed;
  /** Commit and options that are read, or were last. */
  reading: string;
  isForced: boolean;
  /** Of one reading, because programs were missing or too slow. */
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

  /** undefined = until something changes. */
  function waitOf(poll: Poll): number | undefined {
    const intervals = [...poll.followers].flatMap((key) => followers.get(key)?.wanted.intervalMs ?? []);
    const interval = intervals.length === 0 ? undefined : Math.min(...intervals);
    if (poll.failures > 0) return Math.max(interval ?? 0, backOffMs(BACK_OFF, poll.failures, random));
    // A commit does not move.
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
      // One that was asked for meanwhile is answered by the next fetch.
      readBy(key, !poll.isAsked);
    }
    // A failed attempt always wakes, so that the next one has the credentials that the Secret has by then.
    if (poll.failure !== undefined || before !== undefined) for (const key of poll.followers) wake(key);
  }

  /** `isAnswer`: the commit was fetched after everything that was asked for. */
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
      // Another branch or URL: what was read from the former is not what is asked for now, and still the last good state.
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
