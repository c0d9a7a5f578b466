// Staged runs as people have them: `flotilla up` with members in three rings, placements of a namespace with one ConfigMap on some of them, and
// runs that bring a change to a placement's clusters ring by ring, half of a ring at a time.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINDINGS, FLEET, type Place, started, wiresFrom } from './deliver-fleet.ts';
import { listen, send, type Wire } from './deliver-wire.ts';
import { childrenOf, ended, said, type Vitals, vitalsOf } from './fleet-process.ts';

const RUNS = `${FLEET}/clusterstagedupdateruns`;
const PLACEMENTS = `${FLEET}/clusterresourceplacements`;
const MERGE = 'application/merge-patch+json';
const FLEET_VERSION = 'placement.kubernetes-fleet.io/v1beta1';

export const memberName = (at: number): string => `member-${at + 1}`;
/** Of ten in a row two are in the first ring, three in the second, five in the third. */
const ringOf = (at: number): string => (at % 10 < 2 ? 'a' : at % 10 < 5 ? 'b' : 'c');
const RINGS = ['a', 'b', 'c'] as const;

/** The clusters that move together, in the order of a run: of each ring half, by name. */
export function wavesOf(clusters: readonly number[]): readonly (readonly string[])[] {
  return RINGS.flatMap((ring) => {
    const own = clusters
      .filter((at) => ringOf(at) === ring)
      .map(memberName)
      .sort();
    return [own.slice(0, own.length / 2), own.slice(own.length / 2)];
  });
}

/** What happened on the hub. */
export interface Counted {
  /** As `roll` returns it. */
  readonly ms: readonly number[];
  /** By kind, as its watch tells them. */
  readonly writes: Readonly<Record<string, number>>;
  /** By controller of the hub, without those that follow heartbeats. */
  readonly reconciles: Readonly<Record<string, number>>;
}

export interface StagedFleet extends AsyncDisposable {
  readonly wire: Wire;
  readonly member: Place['member'];
  /** A placement and its strategy; nothing moves yet. More than a hundred clusters are whole hundreds. */
  place(name: string, clusters: readonly number[]): Promise<void>;
  /** Changes what each of them places and starts a run for each, all at once: from there to its success, in ms. */
  roll(placements: readonly string[]): Promise<readonly number[]>;
  /** The same, every write of it looked at. */
  counted(placements: readonly string[]): Promise<Counted>;
  vitals(): Promise<readonly Vitals[]>;
}

export async function startStagedFleet(folder: string, members: number): Promise<StagedFleet> {
  const data = mkdtempSync(join(folder, 'data-'));
  const fleetFile = join(folder, 'rings.json');
  const fleet = Array.from({ length: members }, (_, at) => ({
    name: memberName(at),
    labels: { ring: ringOf(at), hundred: hundredOf(at) },
  }));
  writeFileSync(fleetFile, JSON.stringify({ members: fleet }));
  const healthPort = await freePort();
  const args = ['up', '--port', '0', '--data-dir', data, '--fleet', fleetFile, '--health-port', String(healthPort)];
  const up = started(folder, args);
  await said(up, 'ready:');
  const pids = [up.pid as number, ...childrenOf(up.pid as number)];
  const { hub, member } = wiresFrom(data);
  const metrics = async () => (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
  const runs = await watchRuns(hub);
  let number = 0;

  /** Nobody has anything to do any more. */
  async function settles(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await sleep(100);
      const waiting = [...seriesOf(await metrics(), 'flotilla_queue_depth').values()];
      quiet = waiting.every((depth) => depth === 0) ? quiet + 1 : 0;
    }
  }

  async function roll(placements: readonly string[]): Promise<readonly number[]> {
    number++;
    const value = JSON.stringify({ data: { value: String(number) } });
    await sideBySide(placements, (name) =>
      send(hub, 'PATCH', `/api/v1/namespaces/${name}/configmaps/app`, value, MERGE),
    );
    await settles();
    const names = placements.map((name) => `${name}-${number}`);
    const all = Promise.all(names.map((name) => runs.succeeded(name)));
    all.catch(() => {});
    const began = performance.now();
    await sideBySide(placements, (placement) => send(hub, 'POST', RUNS, JSON.stringify(runOf(placement, number))));
    const ended = await all;
    await settles();
    await sideBySide(names, (name) => send(hub, 'DELETE', `${RUNS}/${name}`));
    await settles();
    return ended.map((moment) => moment - began);
  }

  return {
    wire: hub,
    member,
    async place(name, clusters) {
      const create = (path: string, object: object) => send(hub, 'POST', path, JSON.stringify(object));
      await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      const content = { value: '0', text: 'x'.repeat(1000) };
      const app = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data: content };
      await create(`/api/v1/namespaces/${name}/configmaps`, app);
      await create(`${FLEET}/clusterstagedupdatestrategies`, strategyOf(name));
      await create(PLACEMENTS, placementOf(name, clusters));
    },
    roll,
    async counted(placements) {
      const kinds = { bindings: BINDINGS, works: `${FLEET}/works`, runs: RUNS, placements: PLACEMENTS };
      const writes: Record<string, number> = {};
      const ends: (() => void)[] = [];
      for (const [kind, path] of Object.entries(kinds)) {
        let count = 0;
        ends.push(
          await listenFromNow(hub, path, () => {
            writes[kind] = ++count;
          }),
        );
      }
      const before = seriesOf(await metrics(), 'flotilla_reconciles_total', 'controller');
      const ms = await roll(placements);
      const after = seriesOf(await metrics(), 'flotilla_reconciles_total', 'controller');
      for (const end of ends) end();
      const reconciles = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
      const ofRuns = reconciles.filter(([name, count]) => count > 0 && !name.includes('member'));
      return { ms, writes, reconciles: Object.fromEntries(ofRuns) };
    },
    vitals: () => vitalsOf(folder, pids),
    async [Symbol.asyncDispose]() {
      runs.end();
      await ended(up);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

// ---- objects

/** More cannot be named one by one. */
const MAX_NAMED = 100;
const hundredOf = (at: number): string => String(Math.floor(at / 100));

const policyFor = (clusters: readonly number[]) =>
  clusters.length <= MAX_NAMED
    ? { placementType: 'PickFixed', clusterNames: clusters.map(memberName) }
    : {
        placementType: 'PickAll',
        affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: inHundreds(clusters) } },
      };

const inHundreds = (clusters: readonly number[]) => {
  const values = [...new Set(clusters.map(hundredOf))];
  const labelSelector = { matchExpressions: [{ key: 'hundred', operator: 'In', values }] };
  return { clusterSelectorTerms: [{ labelSelector }] };
};

const placementOf = (name: string, clusters: readonly number[]) => ({
  apiVersion: FLEET_VERSION,
  kind: 'ClusterResourcePlacement',
  metadata: { name },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }],
    policy: policyFor(clusters),
    strategy: { type: 'External' },
  },
});

const strategyOf = (name: string) => ({
  apiVersion: FLEET_VERSION,
  kind: 'ClusterStagedUpdateStrategy',
  metadata: { name },
  spec: {
    stages: RINGS.map((ring) => ({ name: ring, labelSelector: { matchLabels: { ring } }, maxConcurrency: '50%' })),
  },
});

const runOf = (placementName: string, number: number) => ({
  apiVersion: FLEET_VERSION,
  kind: 'ClusterStagedUpdateRun',
  metadata: { name: `${placementName}-${number}` },
  spec: { placementName, stagedRolloutStrategyName: placementName, state: 'Run' },
});

// ---- the wire

async function watchRuns(hub: Wire) {
  const waiting = new Map<string, { done(moment: number): void; fail(error: Error): void }>();
  const end = await listenFromNow(hub, RUNS, (line) => {
    // Most of what is heard is only that a cluster has moved.
    if (!/"UpdateRun(Initialized)?(Succeeded|Failed)"/.test(line)) return;
    const { object } = JSON.parse(line) as { readonly object: Run };
    const said = (type: string) => object.status?.conditions?.find((each) => each.type === type);
    const one = waiting.get(object.metadata.name);
    if (said('Succeeded')?.status === 'True') one?.done(performance.now());
    const failure = [said('Succeeded'), said('Initialized')].find((each) => each?.status === 'False');
    if (failure !== undefined) one?.fail(new Error(`${object.metadata.name}: ${failure.message}`));
  });
  return {
    end,
    succeeded: (name: string) => new Promise<number>((done, fail) => waiting.set(name, { done, fail })),
  };
}

interface Run {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

/** What is there already is not told. */
async function listenFromNow(wire: Wire, path: string, hear: (line: string) => void): Promise<() => void> {
  const list = JSON.parse(await send(wire, 'GET', `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
  return listen(wire, `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, hear);
}

const AT_A_TIME = 16;

async function sideBySide<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Of a metric in the text of Prometheus: its values added up by one of its labels. */
function seriesOf(text: string, metric: string, label = 'controller'): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${metric}{`)) continue;
    const name = new RegExp(`${label}="([^"]*)"`).exec(line)?.[1] ?? '';
    found.set(name, (found.get(name) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return found;
}
