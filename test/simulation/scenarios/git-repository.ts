// The repository of a simulated world: the history that the user pushes, and the GitClient through which hubs see it,
// with outages, lost responses, and different commits on the hubs' disks. The expected content of each cluster is
// computed here, not by the program's renderer.
import { sha256 } from '../../../src/base/hash.ts';
import { type GitClient, GitError, type GitFile } from '../../../src/hub/git/repository.ts';
import type { Deps } from '../../../src/runtime/deps.ts';

export interface BundleState {
  readonly one: string;
  readonly two: string;
  /** Replaces `one` on the clusters of part b; `broken` = it is invalid. */
  readonly over?: string;
  /** Clusters that the bundle excludes. */
  readonly excluded: readonly string[];
  readonly paused: boolean;
  readonly maxUnavailable: number;
  /** An error in the directory. */
  readonly flaw?: Flaw;
}

export const FLAWS = ['yaml', 'tab', 'link', 'empty', 'targets'] as const;
export type Flaw = (typeof FLAWS)[number];

export interface Commit {
  readonly id: string;
  readonly bundles: Readonly<Record<string, BundleState>>;
}

export interface Repository {
  /** The commits of the branch, in order of time; a force-push may repeat a commit. */
  readonly heads: readonly Commit[];
  readonly head: Commit;
  push(bundles: Commit['bundles']): void;
  /** Sets the branch to this commit again, like a force-push. */
  rewind(to: Commit): void;
  /** Requests fail until this time. */
  downUntil: number;
  /** The branch does not exist until this time. */
  missingUntil: number;
  /** `hub`: the owner of the disk. */
  clientFor(hub: string, deps: Pick<Deps, 'clock' | 'random'>): GitClient;
}

export const BROKEN = 'broken';

/** Part b has an overlay. */
export const isOverlaid = (cluster: string): boolean => cluster === 'c3';

/**
 * The texts of both objects; undefined = this commit neither brings anything to the cluster nor removes anything from
 * it.
 */
export function broughtTo(cluster: string, state: BundleState | undefined): string | undefined {
  if (state === undefined || state.flaw !== undefined || state.paused || state.excluded.includes(cluster))
    return undefined;
  const one = isOverlaid(cluster) ? (state.over ?? state.one) : state.one;
  return one === BROKEN ? undefined : `${one} ${state.two}`;
}

/**
 * Objects may be removed only if a complete commit lacks them. Targets that match no cluster are a mistake, too, but
 * the commit can be read completely.
 */
export const isWhole = ({ bundles }: Commit): boolean => {
  const all = Object.values(bundles);
  return all.length > 0 && all.every(({ flaw }) => flaw === undefined || flaw === 'targets');
};

// ---- files

const configMap = (name: string, text: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: { text: "${text}" }\n`;

function fleetYaml(name: string, { paused, maxUnavailable, excluded, over, flaw }: BundleState): string {
  const rules = [
    ...excluded.map((cluster) => `- { clusterName: ${cluster}, doNotDeploy: true }\n`),
    ...(over === undefined ? [] : ['- { clusterSelector: { matchLabels: { part: b } }, yaml: { overlays: [b] } }\n']),
  ];
  return [
    `name: ${name}\n`,
    'createNamespace: false\n',
    flaw === 'tab' ? 'labels:\n\ta: b\n' : '',
    flaw === 'targets' ? 'overrideTargets: [{ clusterGroup: nowhere }]\n' : '',
    paused ? 'paused: true\n' : '',
    `rolloutStrategy: { maxUnavailable: ${maxUnavailable} }\n`,
    rules.length === 0 ? '' : `targetCustomizations:\n${rules.join('')}`,
  ].join('');
}

export function filesOf({ id, bundles }: Commit): readonly GitFile[] {
  const file = (path: string, text: string, kind: GitFile['kind'] = 'file'): GitFile => ({
    path,
    id: sha256(text),
    kind,
    size: text.length,
    ...(kind === 'file' ? { text } : {}),
  });
  return [
    file('README.md', id),
    ...Object.entries(bundles).flatMap(([name, state]) => {
      const { one, two, over, flaw } = state;
      const own = [file(`${name}/fleet.yaml`, fleetYaml(name, state))];
      if (flaw === 'empty') return own;
      const overlay = over === BROKEN ? 'kind: [\n' : over === undefined ? undefined : configMap(`${name}-one`, over);
      return [
        ...own,
        file(`${name}/one.yaml`, configMap(`${name}-one`, one)),
        flaw === 'link'
          ? file(`${name}/two.yaml`, '../secret', 'link')
          : file(`${name}/two.yaml`, flaw === 'yaml' ? 'a: [\n' : configMap(`${name}-two`, two)),
        ...(overlay === undefined ? [] : [file(`${name}/overlays/b/one.yaml`, overlay)]),
      ];
    }),
  ];
}

// ---- the server, and the disks of the hubs

const ANSWER_MS = 3_000;
const TIMEOUT_MS = 60_000;
/** A large commit: the next one may be fetched meanwhile. */
const SLOW_READ_MS = 30_000;

export interface RepositoryOptions {
  readonly first: Commit['bundles'];
  now(): number;
  /** Until when requests may fail. */
  readonly troubleUntil: number;
}

export function createRepository({ first, now, troubleUntil }: RepositoryOptions): Repository {
  let count = 0;
  const made = (bundles: Commit['bundles']): Commit => ({ id: sha256(`commit ${++count}`).slice(0, 40), bundles });
  const heads = [made(first)];
  const head = () => heads.at(-1) as Commit;
  const commits = new Map(heads.map((each) => [each.id, each]));
  const disks = new Map<string, string>();
  const repository: Repository = {
    heads,
    get head() {
      return head();
    },
    push(bundles) {
      const commit = made(bundles);
      commits.set(commit.id, commit);
      heads.push(commit);
    },
    rewind: (to) => void heads.push(to),
    downUntil: 0,
    missingUntil: 0,
    clientFor(hub, { clock, random }) {
      const after = (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          const cancel = clock.at(clock.now() + ms, 'git', resolve);
          signal?.addEventListener('abort', () => {
            cancel();
            reject(new GitError('TimedOut', 'stopped'));
          });
        });
      /** Whether and when the request or its response fails. */
      const crosses = async (signal?: AbortSignal) => {
        const dice = random.next();
        const fails = now() < troubleUntil ? Math.floor(dice * 12) : 12;
        await after(fails === 0 ? TIMEOUT_MS : random.next() * ANSWER_MS, signal);
        if (fails === 0) throw new GitError('TimedOut', 'no answer');
        if (fails <= 2 || now() < repository.downUntil) throw new GitError('FetchFailed', 'no connection');
      };
      return {
        async fetch(_source, _known, signal) {
          await crosses(signal);
          if (now() < repository.missingUntil) throw new GitError('RefNotFound', 'there is no branch "main"');
          const { id } = head();
          await after(random.next() * ANSWER_MS, signal);
          disks.set(hub, id);
          return id;
        },
        kept: async () => disks.get(hub),
        async files(_source, commit, reads, signal) {
          await after(random.next() * (random.next() < 0.3 ? SLOW_READ_MS : ANSWER_MS), signal);
          const found = commits.get(commit);
          if (found === undefined || (now() < troubleUntil && random.next() < 0.1))
            throw new GitError('FetchFailed', 'the commit cannot be read');
          return filesOf(found).map((each) => {
            const { text: _text, ...rest } = each;
            return reads(each.path) ? each : rest;
          });
        },
      };
    },
  };
  return repository;
}
