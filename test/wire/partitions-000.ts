// Seed 000 as its users see it: a placement of one ConfigMap and one Deployment on a fleet, and every state that kubectl shows of its rollout.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { patience } from '../../scripts/gate/patience.ts';
import type { RolloutState } from '../../src/api/rollout-state.ts';
import type { Fleet } from './delivery.ts';
import { named } from './delivery.ts';
import { kubectlPath, within } from './server.ts';

type Seen = Required<Pick<RolloutState, 'partitions'>> & RolloutState;

export interface Followed extends AsyncDisposable {
  /** All that has been shown since the last change, oldest first. */
  readonly seen: readonly Seen[];
  /** The first state, from the last one that was waited for on, with these values. */
  until(values: Partial<RolloutState>): Promise<Seen>;
  /** The same, told as a question. */
  untilTrue(what: string, satisfied: (state: Seen) => boolean): Promise<Seen>;
}

/** Installed or updated and not ready yet. */
export const inFlight = ({ notReady, waitApplied, errApplied }: RolloutState): number =>
  notReady + waitApplied + errApplied;

export const peakOf = (seen: readonly RolloutState[]): number => Math.max(0, ...seen.map(inFlight));

export const beyond = ({ partitions }: Seen): readonly string[] =>
  partitions.flatMap(({ name, state }) => (state === 'NotReady' ? [name] : []));

const PATIENCE_MS = patience(240_000);

/** kubectl's watch of a placement that exists. */
async function follow({ kubeconfig, home }: Fleet, name: string): Promise<Followed & { forget(): void }> {
  const args = ['--context', 'hub', 'get', 'crp', ...named(name), '--watch', '-o', 'jsonpath={.status.rollout}{"\\n"}'];
  const child: ChildProcess = spawn(kubectlPath ?? 'kubectl', args, {
    env: { ...process.env, KUBECONFIG: kubeconfig, HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const seen: Seen[] = [];
  let at = 0;
  let rest = '';
  let hear = () => {};
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() as string;
    seen.push(...lines.filter((line) => line !== '').map((line): Seen => JSON.parse(line)));
    hear();
  });
  async function untilTrue(what: string, satisfied: (state: Seen) => boolean): Promise<Seen> {
    const found = new Promise<Seen>((resolve, reject) => {
      hear = () => {
        for (; at < seen.length; at++) if (satisfied(seen[at] as Seen)) return resolve(seen[at] as Seen);
      };
      hear();
      void exited.then(() => reject(new Error(`kubectl ${args.join(' ')} ended`)));
    });
    return within(found, PATIENCE_MS, () => `${name}: ${what} was not shown; last: ${JSON.stringify(seen.at(-1))}`);
  }
  return {
    seen,
    untilTrue,
    until: (values) =>
      untilTrue(JSON.stringify(values), (state) =>
        Object.entries(values).every(([key, value]) => state[key as keyof Seen] === value),
      ),
    forget() {
      seen.length = 0;
      at = 0;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

export interface Shop extends AsyncDisposable {
  readonly followed: Followed;
  /** What the server said on standard error when the placement was created. */
  readonly warnings: string;
  /** A new image; one whose tag ends with "bad" cannot be pulled. */
  image(image: string): Promise<void>;
  /** A new value of the ConfigMap, which needs no time to be ready. */
  value(value: string): Promise<void>;
  /** `web:bad` on the clusters with the label `broken`. */
  mark(clusters: readonly string[], isBroken: boolean): Promise<void>;
  /** The holds of the placement by code: how many clusters each has, and what the first of them waits for. */
  holds(): Promise<Readonly<Record<string, { readonly count: number; readonly on?: string }>>>;
}

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const settingsOf = (namespace: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace },
  data: { value },
});

const deploymentOf = (namespace: string, image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});

const brokenIn = (namespace: string) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ResourceOverride',
  metadata: { name: 'broken', namespace },
  spec: {
    resourceSelectors: [{ group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' }],
    policy: {
      overrideRules: [
        {
          clusterSelector: { clusterSelectorTerms: [{ labelSelector: { matchLabels: { broken: 'true' } } }] },
          jsonPatchOverrides: [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'web:bad' }],
        },
      ],
    },
  },
});

const placementOf = (name: string, partitioned: object) => ({
  apiVersion: 'placement.kubernetes-fleet.io/v1',
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }],
    strategy: { type: 'Partitioned', partitioned },
  },
});

/** A namespace with everything in it, and its placement; it is gone again afterwards. */
export const open = (fleet: Fleet, name: string, image: string, partitioned: object): Promise<Shop> =>
  openWith(fleet, name, image, JSON.stringify(placementOf(name, partitioned)));

/** `placement`: the manifest of a ClusterResourcePlacement with this name. */
export async function openWith(fleet: Fleet, name: string, image: string, placement: string): Promise<Shop> {
  await fleet.apply(namespaceOf(name), settingsOf(name, '0'), deploymentOf(name, image), brokenIn(name));
  const { code, stderr } = await fleet.try(['apply', '-f', '-'], placement);
  if (code !== 0) throw new Error(stderr);
  const followed = await follow(fleet, name);
  return {
    followed,
    warnings: stderr,
    async image(next) {
      followed.forget();
      await fleet.apply(deploymentOf(name, next));
    },
    async value(next) {
      followed.forget();
      await fleet.apply(settingsOf(name, next));
    },
    async mark(clusters, isBroken) {
      followed.forget();
      const label = isBroken ? 'broken=true' : 'broken-';
      await fleet.hub(['label', 'memberclusters', ...clusters, label]);
    },
    async holds() {
      const { holds = [] } = await fleet.status('crp', name);
      const byCode: Record<string, { readonly count: number; readonly on?: string }> = {};
      for (const { code: hold, count, on } of holds) {
        const known = byCode[hold] ?? { count: 0, ...(on === undefined ? {} : { on: on.name }) };
        byCode[hold] = { ...known, count: known.count + count };
      }
      return byCode;
    },
    async [Symbol.asyncDispose]() {
      await followed[Symbol.asyncDispose]();
      await fleet.hub(['delete', 'crp', name, '--timeout=120s']);
      await fleet.hub(['delete', 'namespace', name, '--timeout=120s']);
    },
  };
}
