// A running fleet as the tests of delivery see it: kubectl against the hub and the members, conditions as short lines, and records of
// everything that happened to some objects, in the order in which it happened.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patience } from '../../scripts/gate/patience.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { type Kubectl, kubectlFor } from './fleet.ts';
import { kubectlPath, type Result, type Server, startServer } from './server.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface Identified {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface ClusterStatus {
  readonly clusterName?: string;
  readonly observedResourceIndex?: string;
  readonly conditions: readonly Condition[];
  readonly failedPlacements?: readonly (Identified & { readonly condition: Condition })[];
}

export interface PlacementStatus {
  readonly conditions: readonly Condition[];
  readonly observedResourceIndex?: string;
  readonly selectedResources?: readonly Identified[];
  readonly placementStatuses?: readonly ClusterStatus[];
  readonly holds?: readonly {
    readonly code: string;
    readonly clusters: readonly string[];
    readonly count: number;
    readonly on?: { readonly kind: string; readonly name: string };
    readonly facts?: { readonly [name: string]: unknown };
    readonly next?: string;
  }[];
}

/** `Type Status Reason`, without the prefix that the placement's own kind gives. */
export const inShort = (conditions: readonly Condition[] = []): readonly string[] =>
  conditions.map(
    ({ type, status, reason }) => `${type.replace(/^(Cluster)?ResourcePlacement/, '')} ${status} ${reason}`,
  );

/**
 * Whether the cluster has said what became of the newest content, good or bad. A placement's own reason does not tell: it is ApplyFailed also while
 * a cluster is still at it.
 */
export const hasAnswered = ({ conditions }: ClusterStatus): boolean => {
  const last = conditions.at(-1);
  return last?.reason === 'NotAllWorkHaveBeenApplied' || (last?.type === 'Available' && last.status === 'True');
};

export const messageOf = (conditions: readonly Condition[] = [], type: string): string =>
  conditions.find((each) => each.type.endsWith(type))?.message ?? '';

export interface Happening {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

/** What kubectl's watch has printed so far, oldest first. */
export interface Recording extends AsyncDisposable {
  readonly happenings: readonly Happening[];
  /** Resolves when what has happened satisfies; rejects with what it has seen when it takes too long. */
  until(satisfied: (happenings: readonly Happening[]) => boolean, what: string): Promise<void>;
}

const PATIENCE_MS = patience(60_000);

export interface Fleet extends AsyncDisposable {
  /** With a context for the hub and one for each member. */
  readonly kubeconfig: string;
  readonly home: string;
  /** kubectl in the hub's context; the exit code must be 0. */
  hub(args: readonly string[], input?: string): Promise<string>;
  try(args: readonly string[], input?: string): Promise<Result>;
  on(member: string, args: readonly string[]): Promise<string>;
  /** Applies objects, which need no file, on the hub. */
  apply(...objects: readonly object[]): Promise<string>;
  get<T extends object>(context: string, args: readonly string[]): Promise<T>;
  status(...placement: readonly string[]): Promise<PlacementStatus>;
  /** Until the placement has this condition with this reason, told for its newest generation. */
  waitForReason(placement: string, type: string, reason: string): Promise<void>;
  waitForAvailable(...placements: readonly string[]): Promise<void>;
  /** Until the placement's status satisfies; that status. Rejects with the last one when it takes too long. */
  waitForStatus(
    placement: readonly string[],
    satisfied: (status: PlacementStatus) => boolean,
    what: string,
  ): Promise<PlacementStatus>;
  record(context: string, args: readonly string[]): Promise<Recording>;
}

/** Starts a fleet that ships by name, or the usual one. */
export type StartFleet = (fleet?: string) => Promise<Fleet>;

/** On servers of our own, in one process. */
export const startFleet: StartFleet = async (fleet) => {
  const server = await startServer({
    command: 'up',
    args: ['--in-memory', ...(fleet === undefined ? [] : ['--fleet', fleet])],
  });
  return fleetOf(server.kubeconfig, async () => server[Symbol.asyncDispose]());
};

/** A fleet that runs, whatever it runs on. `stop` ends it. */
export function fleetOf(kubeconfig: string, stop: () => Promise<void>): Fleet {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-delivery-'));
  const kubectl: Kubectl = kubectlFor({ kubeconfig }, home);
  const hub = (args: readonly string[], input?: string) => kubectl.ok(['--context', 'hub', ...args], input);
  const get = async <T extends object>(context: string, args: readonly string[]): Promise<T> =>
    JSON.parse(await kubectl.ok(['--context', context, 'get', ...args, '-o', 'json']));
  const wait = (condition: string, placements: readonly string[]) =>
    hub(['wait', `--for=${condition}`, ...placements, '--timeout=60s']);
  const follow = (context: string, args: readonly string[]) =>
    record({ kubeconfig }, home, ['--context', context, ...args]);
  return {
    kubeconfig,
    home,
    hub,
    try: (args, input) => kubectl.try(['--context', 'hub', ...args], input),
    on: (member, args) => kubectl.ok(['--context', member, ...args]),
    apply: (...objects) =>
      hub(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })),
    get,
    status: async (...placement) => (await get<{ status: PlacementStatus }>('hub', placement)).status,
    async waitForReason(placement, type, reason) {
      await wait(`jsonpath={.status.conditions[?(@.type=="${type}")].reason}=${reason}`, [placement]);
    },
    async waitForAvailable(...placements) {
      const scope = placements.some((each) => each.startsWith('rp/')) ? '' : 'Cluster';
      await wait(`condition=${scope}ResourcePlacementAvailable`, placements);
    },
    async waitForStatus(placement, satisfied, what) {
      const [kind = '', name = '', ...rest] = placement;
      await using recording = await follow('hub', ['get', kind, ...named(name), ...rest]);
      const last = () => recording.happenings.at(-1)?.object['status'] as PlacementStatus | undefined;
      try {
        await recording.until(() => satisfied(last() ?? { conditions: [] }), what);
      } catch (error) {
        throw new Error(`${placement.join(' ')}: ${what}: last seen: ${JSON.stringify(last())}`, { cause: error });
      }
      return last() as PlacementStatus;
    },
    record: follow,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** One object, as a list: of one that is asked for by its name kubectl leaves out what happens between its first look and its watch. */
export const named = (name: string): readonly string[] => ['--field-selector', `metadata.name=${name}`];

/** Resolves once the objects that exist have been printed, so that nothing later is missed. There must be at least one. */
async function record(server: Pick<Server, 'kubeconfig'>, home: string, args: readonly string[]): Promise<Recording> {
  const child: ChildProcess = spawn(
    kubectlPath ?? 'kubectl',
    ['--cache-dir', join(home, 'kube-cache'), ...args, '--watch', '--output-watch-events', '-o', 'json'],
    { env: { ...process.env, KUBECONFIG: server.kubeconfig, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const happenings: Happening[] = [];
  const listeners = new Set<() => void>();
  let pending = '';
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    pending += chunk.toString();
    const lines = pending.split('\n');
    pending = lines.pop() as string;
    happenings.push(...lines.map((line): Happening => JSON.parse(line)));
    for (const listener of listeners) listener();
  });
  const exited = once(child, 'exit');
  const until: Recording['until'] = (satisfied, what) => {
    let listener = () => {};
    let timer: NodeJS.Timeout | undefined;
    const happened = new Promise<void>((resolve, reject) => {
      const seen = () =>
        happenings.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`).join('\n');
      listener = () => satisfied(happenings) && resolve();
      timer = setTimeout(() => reject(new Error(`${what} did not happen; seen:\n${seen()}`)), PATIENCE_MS);
      void exited.then(() => reject(new Error(`kubectl ${args.join(' ')} ended: ${complaint}`)));
      listeners.add(listener);
      listener();
    });
    return happened.finally(() => {
      clearTimeout(timer);
      listeners.delete(listener);
    });
  };
  await until((seen) => seen.length > 0, 'a first object');
  return {
    happenings,
    until,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}
