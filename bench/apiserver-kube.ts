// Our API server beside a real kube-apiserver with its etcd, on the same machine and in the same run, each with its writes on disk. Rounds alternate;
// load comes from a process for each. Only server-side apply has a bound.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plane, prepareServers, removePlane, startServers, urlOf } from '../scripts/kube/plane.ts';
import { findPrograms, type Programs } from '../scripts/kube/programs.ts';
import { runningPid } from '../scripts/kube/servers.ts';
import { clientFiles } from './client-files.ts';
import { start, stoppedBySignals, type Worker } from './processes.ts';
import { median, type Row } from './report.ts';

const STARTS = 3;
const ROUNDS = 3;
const CLIENTS = 64;
const WATCHERS = 1000;
const MANY = 10_000;
const IN_MEMORY = 100_000;
const AT = '/api/v1/namespaces/default/configmaps';
const bodyOf = (name: string, more = '') =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { text: 'x'.repeat(1850), more },
  });

interface Server extends AsyncDisposable {
  readonly startMs: number;
  readonly port: number;
  readonly load: Worker;
  /** Of all its processes. */
  memoryBytes(): number;
}

type Pair = { readonly ours: Server; readonly real: Server };

export async function kubeRows(tell: (row: Row) => void): Promise<void> {
  const programs = findPrograms();
  if (programs === undefined) {
    console.log('no kube-apiserver on this machine to stand beside ours: "npm run kube -- up hub" builds one');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-kube-'));
  try {
    await tellStarts(folder, programs, tell);
    await onFreshPair(folder, programs, async (pair) => {
      await tellCreates(pair, tell);
      await tellApplies(pair, tell);
      await tellWatches(pair, tell);
    });
    // What is counted here must not find what the rows before have left.
    await onFreshPair(folder, programs, async (pair) => {
      await tellList(pair, tell);
      await tellMemory(pair, tell);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onFreshPair(folder: string, programs: Programs, run: (pair: Pair) => Promise<void>): Promise<void> {
  await using ours = await startOurs(folder);
  await using real = await startReal(folder, programs);
  await run({ ours, real });
}

async function startOurs(folder: string): Promise<Server> {
  const own = mkdtempSync(join(folder, 'ours-'));
  const kubeconfig = join(own, 'kubeconfig');
  const began = performance.now();
  const worker = start('dist/main/flotilla.js', [
    'apiserver',
    '--data-dir',
    join(own, 'data'),
    '--port',
    '0',
    '--kubeconfig',
    kubeconfig,
  ]);
  const stop = async () => worker[Symbol.dispose]();
  try {
    await worker.firstLine;
    const startMs = performance.now() - began;
    const { port, client } = clientFiles(readFileSync(kubeconfig, 'utf8'), own);
    return running({ startMs, port, load: start('bench/load.mjs', client), pids: [worker.process.pid] }, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** An API server and its etcd; who makes Pods is not asked for. */
async function startReal(folder: string, programs: Programs): Promise<Server> {
  const plane: Plane = { name: 'real', folder: mkdtempSync(join(folder, 'real-')) };
  const stop = stoppedBySignals(() => removePlane(plane));
  try {
    // With the making of keys: ours makes its own on an empty folder.
    const began = performance.now();
    await prepareServers(plane);
    await startServers(plane, programs, { isDurable: true });
    const startMs = performance.now() - began;
    const pki = (name: string) => join(plane.folder, 'pki', name);
    const pids = (['kube-apiserver', 'etcd'] as const).map((name) => runningPid({ folder: plane.folder, name }));
    const load = start('bench/load.mjs', [pki('admin.crt'), pki('admin.key'), pki('ca.crt')]);
    return running({ startMs, port: Number(new URL(urlOf(plane)).port), load, pids }, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function running(
  { pids, ...server }: Pick<Server, 'startMs' | 'port' | 'load'> & { readonly pids: readonly (number | undefined)[] },
  stop: () => Promise<void>,
): Server {
  return {
    ...server,
    memoryBytes: () => pids.reduce((sum: number, pid) => sum + residentBytes(pid), 0),
    async [Symbol.asyncDispose]() {
      server.load[Symbol.dispose]();
      await stop();
    },
  };
}

const residentBytes = (pid: number | undefined): number =>
  1024 * Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);

async function tellStarts(folder: string, programs: Programs, tell: (row: Row) => void): Promise<void> {
  const [ours, real]: [number[], number[]] = [[], []];
  for (let round = 0; round < STARTS; round++) {
    for (const [begin, all] of [
      [() => startOurs(folder), ours],
      [() => startReal(folder, programs), real],
    ] as const) {
      await using server = await begin();
      all.push(server.startMs);
    }
  }
  const seconds = (all: readonly number[]) => `${(median(all) / 1000).toFixed(2)} s`;
  tell({
    name: 'real: empty start to ready',
    ratio: median(ours) / median(real),
    figures: `${seconds(ours)} against ${seconds(real)} of etcd and kube-apiserver, with making keys; median of ${STARTS}`,
  });
}

/** The median of alternating rounds. */
async function inTurns(pair: Pair, measure: (server: Server, round: number) => Promise<number>) {
  const all = { ours: [] as number[], real: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const side of ['ours', 'real'] as const) {
      const value = await measure(pair[side], round);
      // The first round warms both up.
      if (round > 0) all[side].push(value);
    }
  }
  const [ours, real] = [median(all.ours), median(all.real)];
  return { ours, real, ratio: ours / real };
}

const create = ({ load, port }: Server, name: string, from: number, count: number) =>
  load.ask<{ perSecond: number }>({
    kind: 'requests',
    clients: CLIENTS,
    count,
    from,
    port,
    method: 'POST',
    path: AT,
    body: bodyOf(name),
  });

async function tellCreates(pair: Pair, tell: (row: Row) => void): Promise<void> {
  const { ours, real, ratio } = await inTurns(pair, async (server, round) => {
    const { perSecond } = await create(server, 'c{i}', round * 2000, 2000);
    return perSecond;
  });
  tell({
    name: 'real: durable creates of 2 KB, 64 clients',
    ratio,
    figures: `${ours.toFixed(0)}/s against ${real.toFixed(0)}/s`,
  });
}

const deploymentOf = (round: number) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd{i}', namespace: 'default', labels: { app: 'web' } },
    spec: {
      replicas: round,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: `example.com/web:${round}`,
              ports: [{ name: 'http', containerPort: 80 }],
              env: [{ name: 'ROUND', value: `${round}` }],
              resources: { requests: { cpu: '100m', memory: '64Mi' } },
            },
          ],
        },
      },
    },
  });

/** The first round creates the objects; each later one changes three fields of every object. */
async function tellApplies(pair: Pair, tell: (row: Row) => void): Promise<void> {
  const { ours, real, ratio } = await inTurns(pair, async ({ load, port }, round) => {
    const { perSecond } = await load.ask<{ perSecond: number }>({
      kind: 'requests',
      clients: CLIENTS,
      count: 1000,
      port,
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      path: '/apis/apps/v1/namespaces/default/deployments/d{i}?fieldManager=bench',
      body: deploymentOf(round),
    });
    return perSecond;
  });
  tell({
    name: 'real: server-side applies of a Deployment, 64 clients',
    ratio,
    bound: { atLeast: 3 },
    figures: `${ours.toFixed(0)}/s against ${real.toFixed(0)}/s, durable`,
  });
}

async function tellWatches(pair: Pair, tell: (row: Row) => void): Promise<void> {
  const path = `${AT}?watch=true&fieldSelector=metadata.name%3Dwatched`;
  for (const { load, port } of Object.values(pair)) {
    await load.ask({ kind: 'requests', clients: 1, count: 1, port, method: 'POST', path: AT, body: bodyOf('watched') });
    await load.ask({ kind: 'openWatch', name: 'all', port, watchers: WATCHERS, path });
  }
  const { ours, real, ratio } = await inTurns(pair, async ({ load }, round) => {
    const write = { method: 'PUT', path: `${AT}/watched`, body: bodyOf('watched', `${round}-{i}`) };
    return (await load.ask<{ p50: number }>({ kind: 'emit', name: 'all', events: 10, ...write })).p50;
  });
  for (const { load } of Object.values(pair)) await load.ask({ kind: 'closeWatch', name: 'all' });
  tell({
    name: 'real: one event to 1,000 watchers',
    ratio,
    figures: `${ours.toFixed(0)} ms against ${real.toFixed(0)} ms, write to last`,
  });
}

/** Those of this name from one number up to another. */
async function fill(server: Server, from: number, to: number): Promise<void> {
  await create(server, 'many-{i}', from, to - from);
}

async function tellList(pair: Pair, tell: (row: Row) => void): Promise<void> {
  for (const server of Object.values(pair)) await fill(server, 0, MANY);
  const { ours, real, ratio } = await inTurns(
    pair,
    async ({ load, port }) =>
      (await load.ask<{ p50: number }>({ kind: 'once', port, path: `${AT}?resourceVersion=0`, times: 3 })).p50,
  );
  tell({
    name: 'real: list of 10,000',
    ratio,
    figures: `${ours.toFixed(0)} ms against ${real.toFixed(0)} ms`,
  });
}

async function tellMemory(pair: Pair, tell: (row: Row) => void): Promise<void> {
  for (const server of Object.values(pair)) await fill(server, MANY, IN_MEMORY);
  const [ours, real] = [pair.ours.memoryBytes(), pair.real.memoryBytes()];
  const mb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`;
  tell({
    name: 'real: memory at 100,000 objects of 2 KB',
    ratio: ours / real,
    figures: `${mb(ours)} resident against ${mb(real)} of etcd and kube-apiserver`,
  });
}
