// The API server against the least that node:https can do for the same traffic. Servers and load are processes of their own; rounds of the
// two alternate, so that what else the machine does falls on both, and each ratio is the median of its rounds.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientFiles } from './client-files.ts';
import { start, type Worker } from './processes.ts';
import { median, type Row } from './report.ts';

const ROUNDS = 5;
const CLIENTS = 64;
const TEXT = 'x'.repeat(1850);
const configMap = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c{i}', namespace: 'default', labels: { app: 'bench' } },
  data: { text: TEXT },
});
const placement = JSON.stringify({
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'p{i}' },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'web' }],
    policy: {
      placementType: 'PickN',
      numberOfClusters: 3,
      affinity: {
        clusterAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            clusterSelectorTerms: [{ labelSelector: { matchLabels: { region: 'eu' } } }],
          },
        },
      },
      tolerations: [{ key: 'a', operator: 'Exists' }],
    },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
  },
});

interface Rate {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export async function rows(tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'));
  try {
    await measure(folder, tell);
    const { storeRows } = await import('./store.ts');
    await storeRows(tell);
    const { emptyServerRows } = await import('./empty-server.ts');
    await emptyServerRows(tell);
    const { kubeRows } = await import('./apiserver-kube.ts');
    await kubeRows(tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, tell: (row: Row) => void): Promise<void> {
  const kubeconfig = join(folder, 'kubeconfig');
  using ours = start(
    'dist/main/flotilla.js',
    ['apiserver', '--data-dir', join(folder, 'data'), '--port', '0', '--kubeconfig', kubeconfig],
    {
      imports: [new URL('./loop-delay.mjs', import.meta.url).href],
      flags: ['--expose-gc'],
    },
  );
  await ours.firstLine;
  const { port, files } = identityFrom(kubeconfig, folder);
  using bare = start('bench/baseline/bare-https.mjs', [...files.server, '10000', '1850'], {
    imports: [new URL('./loop-delay.mjs', import.meta.url).href],
    flags: ['--expose-gc'],
  });
  const barePort = Number(await bare.firstLine);
  using load = start('bench/load.mjs', files.client);

  await compareRates(tell, load, {
    name: 'durable create of a 2 KB ConfigMap, 64 clients',
    ours: { port, method: 'POST', path: '/api/v1/namespaces/default/configmaps?fieldManager=bench', body: configMap },
    bare: { port: barePort, method: 'POST', path: '/echo', body: configMap },
    count: 4000,
    atLeast: 0.5,
  });
  await tellLoop(tell, ours, bare, 'event-loop delay p99 under creates');
  await compareRates(tell, load, {
    name: 'durable create of a placement, 64 clients',
    ours: {
      port,
      method: 'POST',
      path: '/apis/placement.kubernetes-fleet.io/v1beta1/clusterresourceplacements',
      body: placement,
    },
    bare: { port: barePort, method: 'POST', path: '/echo', body: placement },
    count: 2000,
    atLeast: 0.15,
  });
  await compareRates(tell, load, {
    name: 'GET of a 2 KB ConfigMap, 64 clients',
    ours: { port, method: 'GET', path: '/api/v1/namespaces/default/configmaps/c1' },
    bare: { port: barePort, method: 'GET', path: '/object' },
    count: 8000,
    atLeast: 0.6,
  });
  await compareWatches(tell, load, port, barePort);
  await compareLists(tell, load, port, barePort);
  await tellLoop(tell, ours, bare, 'event-loop delay p99 under watches and lists');
}

interface Side {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

async function compareRates(
  tell: (row: Row) => void,
  load: Worker,
  { name, ours, bare, count, atLeast }: { name: string; ours: Side; bare: Side; count: number; atLeast: number },
): Promise<void> {
  const ratios: number[] = [];
  const mine: Rate[] = [];
  const theirs: Rate[] = [];
  let from = 0;
  // The first round warms both up and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    const run = (side: Side) => load.ask<Rate>({ kind: 'requests', clients: CLIENTS, count, from, ...side });
    const [left, right] = [await run(ours), await run(bare)];
    from += count;
    if (round === 0) continue;
    ratios.push(left.perSecond / right.perSecond);
    mine.push(left);
    theirs.push(right);
  }
  const rate = (all: readonly Rate[]) =>
    `${Math.round(median(all.map((each) => each.perSecond)))}/s (p50 ${median(all.map((each) => each.p50)).toFixed(1)} ms, p99 ${median(all.map((each) => each.p99)).toFixed(1)} ms)`;
  tell({ name, ratio: median(ratios), bound: { atLeast }, figures: `${rate(mine)} against ${rate(theirs)}` });
}

async function compareWatches(tell: (row: Row) => void, load: Worker, port: number, barePort: number): Promise<void> {
  const watchers = 1000;
  const events = 20;
  const name = 'watched';
  const first = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { text: TEXT } };
  await load.ask({
    kind: 'requests',
    clients: 1,
    count: 1,
    port,
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: JSON.stringify(first),
  });
  const sides = {
    ours: { method: 'PUT', path: `/api/v1/namespaces/default/configmaps/${name}` },
    bare: { method: 'POST', path: '/emit' },
  };
  await load.ask({
    kind: 'openWatch',
    name: 'ours',
    port,
    watchers,
    path: `/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3D${name}`,
  });
  await load.ask({ kind: 'openWatch', name: 'bare', port: barePort, watchers, path: '/watch' });
  const emit = (side: 'ours' | 'bare', round: number) => {
    const body = JSON.stringify({ ...first, data: { text: TEXT, n: `${round}-{i}` } });
    return load.ask<{ p50: number }>({ kind: 'emit', name: side, events, ...sides[side], body });
  };
  const ratios: number[] = [];
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [left, right] = [await emit('ours', round), await emit('bare', round)];
    ratios.push(left.p50 / right.p50);
    mine.push(left.p50);
    theirs.push(right.p50);
  }
  for (const side of ['ours', 'bare']) await load.ask({ kind: 'closeWatch', name: side });
  tell({
    name: 'one event to 1,000 watchers, write to last',
    ratio: median(ratios),
    bound: { atMost: 2 },
    figures: `${median(mine).toFixed(1)} ms against ${median(theirs).toFixed(1)} ms`,
  });
}

async function compareLists(tell: (row: Row) => void, load: Worker, port: number, barePort: number): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } };
  await load.ask({
    kind: 'requests',
    clients: 1,
    count: 1,
    port,
    method: 'POST',
    path: '/api/v1/namespaces',
    body: JSON.stringify(namespace),
  });
  const body = configMap.replace('"default"', '"many"');
  const at = '/api/v1/namespaces/many/configmaps';
  const sizes: readonly number[] = [1000, 10_000];
  let made = 0;
  const times: number[] = [];
  for (const size of sizes) {
    await load.ask({
      kind: 'requests',
      clients: CLIENTS,
      count: size - made,
      from: made,
      port,
      method: 'POST',
      path: at,
      body,
    });
    made = size;
    times.push((await load.ask<{ p50: number }>({ kind: 'once', port, path: at, times: 9 })).p50);
  }
  const ratios: number[] = [];
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const left = await load.ask<{ p50: number; bytes: number }>({ kind: 'once', port, path: at, times: 5 });
    const right = await load.ask<{ p50: number; bytes: number }>({
      kind: 'once',
      port: barePort,
      path: '/list',
      times: 5,
    });
    // Per byte: our objects carry a uid and a time more.
    ratios.push(left.p50 / left.bytes / (right.p50 / right.bytes));
    mine.push(left.p50);
    theirs.push(right.p50);
  }
  tell({
    name: 'list of 10,000 ConfigMaps, per byte',
    ratio: median(ratios),
    bound: { atMost: 2 },
    figures: `${median(mine).toFixed(0)} ms against ${median(theirs).toFixed(0)} ms joined from cached bytes`,
  });
  const [small = 1, large = 1] = times;
  tell({
    name: 'list, growth from 1,000 to 10,000 (10 = linear)',
    ratio: large / small,
    figures: `${small.toFixed(1)} ms, then ${large.toFixed(1)} ms`,
  });
}

async function tellLoop(tell: (row: Row) => void, ours: Worker, bare: Worker, name: string): Promise<void> {
  const left = await ours.ask<{ loop: { p99: number; max: number } }>({ ask: 'loop' });
  const right = await bare.ask<{ loop: { p99: number; max: number } }>({ ask: 'loop' });
  const text = ({ loop }: { loop: { p99: number; max: number } }) =>
    `p99 ${loop.p99.toFixed(1)} ms, max ${loop.max.toFixed(1)} ms`;
  tell({ name, ratio: left.loop.p99 / Math.max(0.1, right.loop.p99), figures: `${text(left)} against ${text(right)}` });
}

/** The kubeconfig's own certificate for the load; the server's for the baseline is the client's too: only the cost of TLS matters. */
function identityFrom(kubeconfig: string, folder: string) {
  const { port, ca, client } = clientFiles(readFileSync(kubeconfig, 'utf8'), folder);
  const pki = join(folder, 'data', 'pki');
  return { port, files: { client, server: [join(pki, 'server.crt'), join(pki, 'server.key'), ca] } };
}
