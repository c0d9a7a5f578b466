// Measures many placements that are created at once, as `flotilla up` runs them: hub and members in processes of their
// own, members that answer at once. How long until the first and the last placement report Available, what a binding
// costs the hub, what stays in memory, and what a restart costs.
//
// FLOTILLA_BURST=PLACEMENTSxMEMBERS makes it smaller (200x100). With less than 51 members all is one process, and the
// figures are not comparable.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FLEET, started, wiresFrom } from './deliver-fleet.ts';
import { listen, send, type Wire } from './deliver-wire.ts';
import { ended, said, vitalsOf } from './fleet-process.ts';
import type { Row } from './report.ts';

const [PLACEMENTS = 200, MEMBERS = 100] = (process.env['FLOTILLA_BURST'] ?? '200x100').split('x').map(Number);
const MB = 2 ** 20;
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const QUIET_MS = 20_000;
const WATCH_SECONDS = 7200;
/** What was measured before status had its turn; the bounds are the targets. */
const BOUNDS = { cpuMsPerBinding: 5, burstMb: 500, restartMb: 300, lagSeconds: 5, servedSeconds: 2.5 };
/** The placement that is created after the restart. */
const AFTER = 'after';
/** Written all the time, by heartbeats and by leaders. */
const BEATING = ['internalmemberclusters', 'memberclusters', 'leases'];

export async function rows(tell: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-burst-'));
  try {
    await measure(folder, tell);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, tell: (row: Row) => void): Promise<void> {
  const data = mkdtempSync(join(folder, 'data-'));
  const argsOn = (port: number) => ['up', '--port', String(port), '--data-dir', data, '--members', String(MEMBERS)];
  const figure = (name: string, value: number, unit: string, atMost?: number) =>
    tell({
      name,
      ratio: value,
      ...(atMost === undefined ? {} : { bound: { atMost } }),
      figures: `${value.toFixed(1)} ${unit}, ${PLACEMENTS} placements of ${MEMBERS} clusters`,
    });
  let up = started(folder, argsOn(0));
  try {
    await said(up, 'ready:');
    let { hub } = wiresFrom(data);
    const pid = up.pid as number;
    const [before] = await vitalsOf(folder, [pid]);
    const names = Array.from({ length: PLACEMENTS }, (_, at) => `burst-${String(at).padStart(4, '0')}`);
    for (const name of names) await content(hub, name);
    const began = performance.now();
    for (const name of names) await place(hub, name);
    const times = await availableTimes(hub, names, began);
    const [after] = await vitalsOf(folder, [pid]);
    figure('burst: first placement Available', Math.min(...times) / 1000, 's');
    figure('burst: last placement Available', Math.max(...times) / 1000, 's');
    const cpuMs = (after?.cpuMs ?? 0) - (before?.cpuMs ?? 0);
    figure('burst: hub CPU per binding', cpuMs / (PLACEMENTS * MEMBERS), 'ms', BOUNDS.cpuMsPerBinding);
    figure('burst: hub memory after it', (after?.rss ?? 0) / MB, 'MB', BOUNDS.burstMb);
    const lags = await statusLags(hub);
    figure(
      'burst: all clusters available until the placement says so, worst',
      Math.max(...lags),
      's',
      BOUNDS.lagSeconds,
    );

    // Statuses that are still due are no writes of the restart.
    await sleep(QUIET_MS);
    const stored = await revisionsOf(hub);
    await ended(up);
    // On the same port: the addresses of members are in their ClusterProfiles.
    up = started(folder, argsOn(hub.port));
    await said(up, 'ready:');
    ({ hub } = wiresFrom(data));
    await content(hub, AFTER);
    const again = performance.now();
    await place(hub, AFTER);
    const [served = 0] = await availableTimes(hub, [AFTER], again);
    figure('burst: a new placement after a restart', served / 1000, 's', BOUNDS.servedSeconds);
    await sleep(QUIET_MS);
    const [quiet] = await vitalsOf(folder, [up.pid as number]);
    figure('burst: hub memory after a restart', (quiet?.rss ?? 0) / MB, 'MB', BOUNDS.restartMb);
    const kept = await revisionsOf(hub);
    const changed = [...new Set([...stored.keys(), ...kept.keys()])].filter((key) => stored.get(key) !== kept.get(key));
    for (const key of changed.slice(0, 10)) console.log(`written after the restart: ${key}`);
    figure('burst: objects written after a restart, but for heartbeats', changed.length, 'objects', 0);
  } finally {
    await ended(up);
  }
}

const post = (hub: Wire, path: string, object: object) => send(hub, 'POST', path, JSON.stringify(object));

async function content(hub: Wire, name: string): Promise<void> {
  await post(hub, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const app = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data: { text: 'x'.repeat(1000) } };
  await post(hub, `/api/v1/namespaces/${name}/configmaps`, app);
}

const place = (hub: Wire, name: string) =>
  post(hub, `${FLEET}/clusterresourceplacements`, {
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'ClusterResourcePlacement',
    metadata: { name },
    spec: {
      resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name }],
      policy: { placementType: 'PickAll' },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    },
  });

interface Table {
  readonly columnDefinitions?: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** From a watch of tables: lists of full statuses would cost more than what is measured. */
async function availableTimes(hub: Wire, names: readonly string[], began: number): Promise<readonly number[]> {
  const waiting = new Set(names);
  const times: number[] = [];
  let columns: readonly string[] = [];
  let end = () => {};
  await new Promise<void>((resolve, reject) => {
    const hear = (line: string) => {
      const { object } = JSON.parse(line) as { readonly object: Table };
      columns = object.columnDefinitions?.map(({ name }) => name) ?? columns;
      for (const { cells } of object.rows ?? []) {
        const each = String(cells[columns.indexOf('Name')]);
        if (cells[columns.indexOf('Available')] !== 'True' || !waiting.delete(each)) continue;
        times.push(performance.now() - began);
        if (waiting.size === 0) resolve();
      }
    };
    const path = `${FLEET}/clusterresourceplacements?watch=true&includeObject=None&timeoutSeconds=${WATCH_SECONDS}`;
    listen(hub, path, hear, TABLE).then((stop) => {
      end = stop;
    }, reject);
  });
  end();
  return times;
}

interface Reported {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly lastTransitionTime: string }[];
  };
}

/** Of each placement: seconds since its last member reported Available on its Work. Times are whole seconds. */
async function statusLags(hub: Wire): Promise<readonly number[]> {
  const availableAt = ({ status }: Reported) =>
    Date.parse(status?.conditions?.find(({ type }) => type.endsWith('Available'))?.lastTransitionTime ?? '') / 1000;
  const lastOf = new Map<string, number>();
  for await (const work of paged(hub, 'works')) {
    const placement = work.metadata.labels?.['kubernetes-fleet.io/parent-CRP'] ?? '';
    lastOf.set(placement, Math.max(lastOf.get(placement) ?? 0, availableAt(work)));
  }
  const lags: number[] = [];
  for await (const placement of paged(hub, 'clusterresourceplacements')) {
    lags.push(availableAt(placement) - (lastOf.get(placement.metadata.name) ?? Number.NaN));
  }
  return lags;
}

async function* paged(hub: Wire, plural: string): AsyncGenerator<Reported> {
  let next = '';
  do {
    const page = JSON.parse(await send(hub, 'GET', `${FLEET}/${plural}?limit=200&continue=${next}`)) as {
      readonly metadata: { readonly continue?: string };
      readonly items: readonly Reported[];
    };
    yield* page.items;
    next = encodeURIComponent(page.metadata.continue ?? '');
  } while (next !== '');
}

interface Stored {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly resourceVersion: string;
}

/** The revision of every object of the hub, except heartbeats and the objects of the placement after the restart. */
async function revisionsOf(hub: Wire): Promise<ReadonlyMap<string, string>> {
  const isOfAfter = ({ name, namespace, labels = {} }: Stored) =>
    name.startsWith(AFTER) || namespace === AFTER || labels['kubernetes-fleet.io/parent-CRP'] === AFTER;
  const revisions = new Map<string, string>();
  for (const path of await collectionsOf(hub)) {
    const { items } = JSON.parse(await send(hub, 'GET', path, undefined, undefined, METADATA)) as {
      readonly items: readonly { readonly metadata: Stored }[];
    };
    for (const { metadata } of items) {
      if (isOfAfter(metadata)) continue;
      revisions.set(`${path} ${metadata.namespace ?? ''}/${metadata.name}`, metadata.resourceVersion);
    }
  }
  return revisions;
}

/** The paths of all that the hub stores, from its discovery. */
async function collectionsOf(hub: Wire): Promise<readonly string[]> {
  const read = async <T>(path: string) => JSON.parse(await send(hub, 'GET', path)) as T;
  const { groups } = await read<{
    readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  }>('/apis');
  const versions = groups.map(({ preferredVersion }) => preferredVersion.groupVersion);
  // Its Events are those of the core group.
  const roots = ['/api/v1', ...versions.filter((each) => each !== 'events.k8s.io/v1').map((each) => `/apis/${each}`)];
  const paths: string[] = [];
  for (const root of roots) {
    const { resources } = await read<{
      readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
    }>(root);
    for (const { name, verbs } of resources) {
      if (verbs.includes('list') && verbs.includes('patch') && !name.includes('/') && !BEATING.includes(name))
        paths.push(`${root}/${name}`);
    }
  }
  return paths;
}
