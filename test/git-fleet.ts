// A fleet that follows a real Git server on loopback: the hub's controllers and the git program, members with workloads, one simulated clock.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { patience } from '../scripts/gate/patience.ts';
import type { GitRepo, GitRepoStatus } from '../src/api/git-repo.ts';
import { SYSTEM_NAMESPACE } from '../src/api/names.ts';
import type { KubeObject } from '../src/api/object.ts';
import { ApiError } from '../src/base/errors.ts';
import type { Renderer } from '../src/hub/git/renderer.ts';
import type { GitClient } from '../src/hub/git/repository.ts';
import { type EitherOptions, gitClient } from '../src/main/git/git-client.ts';
import { type RenderProgramsOptions, renderPrograms } from '../src/main/git/render-programs.ts';
import { aFleet, type Fleet } from './fleet.ts';
import { aGitServer, type GitServer, type GitServerOptions } from './git-server.ts';

export interface GitFleet {
  readonly fleet: Fleet;
  readonly git: GitServer;
  /** Creates a GitRepo that polls every second; all clusters are targets unless told otherwise. */
  follow(spec?: object, at?: { readonly namespace?: string; readonly name?: string }): Promise<void>;
  change(spec: object, name?: string, namespace?: string): Promise<void>;
  repo(name?: string, namespace?: string): Promise<GitRepo>;
  status(name?: string, namespace?: string): Promise<GitRepoStatus>;
  /** `True/Reason` of a condition. */
  said(type: string, name?: string, namespace?: string): Promise<string | undefined>;
  /** Time passes, and everything that follows from it happens: polls too. */
  runs(seconds?: number, stepMs?: number): Promise<void>;
  /** An object of a cluster; undefined = there is none. */
  on(cluster: string, plural: string, name: string, namespace?: string): Promise<KubeObject | undefined>;
  placements(): Promise<readonly string[]>;
  /** Revisions of a placement so far. */
  revisions(placement: string): Promise<number>;
  restart(): Promise<void>;
  readonly directory: string;
}

export interface GitFleetOptions {
  readonly members?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly program?: Partial<EitherOptions>;
  readonly renders?: Partial<RenderProgramsOptions>;
  readonly server?: GitServerOptions;
  readonly skip?: boolean;
}

const MEMBERS = { c1: {}, c2: {}, c3: {} };

export function gitScenario(name: string, options: GitFleetOptions, run: (it: GitFleet) => Promise<void>): void {
  test(name, { timeout: patience(60_000), skip: options.skip ?? false }, async () => {
    await using git = await aGitServer(options.server);
    const directory = mkdtempSync(join(tmpdir(), 'git-fleet-'));
    const counted = counting(gitClient({ directory, ...options.program }));
    const renderer = counted.renderer(renderPrograms({ directory, ...options.renders }));
    const settings = { delivers: {}, git: { client: counted.client, renderer } };
    await using fleet = await aFleet(settings);
    try {
      for (const [member, labels] of Object.entries(options.members ?? MEMBERS)) await fleet.join(member, { labels });
      await run(wordsOf({ fleet, git, directory, counted, settings }));
    } finally {
      await fleet.stopHub();
      await counted.idle();
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

interface Counted {
  readonly client: GitClient;
  renderer(inner: Renderer): Renderer;
  readonly busy: number;
  idle(): Promise<void>;
}

/** Git runs in real time, which the simulated clock must wait for. */
function counting(inner: GitClient): Counted {
  const running = new Set<Promise<unknown>>();
  const noted = <T>(promise: Promise<T>): Promise<T> => {
    const settled: Promise<unknown> = promise.then(
      () => running.delete(settled),
      () => running.delete(settled),
    );
    running.add(settled);
    return promise;
  };
  return {
    client: {
      fetch: (...args) => noted(inner.fetch(...args)),
      kept: (...args) => noted(inner.kept(...args)),
      files: (...args) => noted(inner.files(...args)),
    },
    renderer: (inner) => ({
      kustomize: (...args) => noted(inner.kustomize(...args)),
      helm: (...args) => noted(inner.helm(...args)),
      patched: (...args) => inner.patched(...args),
    }),
    get busy() {
      return running.size;
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function wordsOf(around: {
  readonly fleet: Fleet;
  readonly git: GitServer;
  readonly directory: string;
  readonly counted: Counted;
  readonly settings: Parameters<typeof aFleet>[0];
}): GitFleet {
  const { fleet, git, directory, counted, settings } = around;
  const quiet = async () => {
    await fleet.settles();
    while (counted.busy > 0) {
      await counted.idle();
      await fleet.settles();
    }
  };
  const it: GitFleet = {
    fleet,
    git,
    directory,
    async follow(spec = {}, { namespace = SYSTEM_NAMESPACE, name = 'shop' } = {}) {
      await fleet.hub.create('gitrepos', namespace, {
        metadata: { name, namespace },
        spec: { repo: git.url, pollingInterval: '1s', targets: [{ clusterSelector: {} }], ...spec },
      });
      await it.runs();
    },
    async change(spec, name = 'shop', namespace = SYSTEM_NAMESPACE) {
      await fleet.patch('gitrepos', namespace, name, { spec });
      await it.runs();
    },
    repo: async (name = 'shop', namespace = SYSTEM_NAMESPACE) =>
      (await fleet.hub.get('gitrepos', namespace, name)) as GitRepo,
    status: async (name, namespace) => (await it.repo(name, namespace)).status ?? {},
    async said(type, name, namespace) {
      const found = (await it.status(name, namespace)).conditions?.find((each) => each.type === type);
      return found && `${found.status}/${found.reason}`;
    },
    async runs(seconds = 4, stepMs = 500) {
      await quiet();
      for (let at = 0; at < seconds * 1000; at += stepMs) {
        fleet.clock.advance(stepMs);
        await quiet();
      }
    },
    async on(cluster, plural, name, namespace) {
      try {
        return await fleet.member(cluster).get(plural, namespace, name);
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }
    },
    async placements() {
      const all: string[] = [];
      for (const plural of ['clusterresourceplacements', 'resourceplacements']) {
        const { list } = await fleet.hub.call({ verb: 'list', at: fleet.hub.at(plural) });
        all.push(...(list?.items ?? []).map(({ metadata }) => metadata.name ?? ''));
      }
      return all.toSorted();
    },
    async revisions(placement) {
      const { list } = await fleet.hub.call({ verb: 'list', at: fleet.hub.at('clusterresourcesnapshots') });
      return (list?.items ?? []).filter(({ metadata }) => metadata.name?.startsWith(`${placement}-`)).length;
    },
    async restart() {
      await fleet.restartHub(settings);
      await it.runs();
    },
  };
  return it;
}

// ---- content

export const namespaceYaml = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
export const configYaml = (name: string, value: string, namespace?: string): string =>
  [
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    'data:',
    `  value: "${value}"`,
    '',
  ].join('\n');
export const deploymentYaml = (image: string): string =>
  `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "${image}" }] }
`;
