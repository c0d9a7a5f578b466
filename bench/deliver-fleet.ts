// A delivery as people have it: `flotilla up` with a placement of ConfigMaps on every member, of which the first is changed again and again.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { listen, send, type Wire } from './deliver-wire.ts';
import { childrenOf, ended, program, said, type Vitals, vitalsFlags, vitalsOf } from './fleet-process.ts';

/** From the change to the moment at which it has come to each member, in ms. */
export interface Side {
  change(): Promise<readonly number[]>;
}

export interface Fleet extends Side, AsyncDisposable {
  /** For another server that shows the same certificate. */
  readonly files: readonly string[];
  readonly wire: Wire;
  readonly member: Place['member'];
  /** Servers of others that a relay can use, too; absent = it needs some of its own. */
  readonly kubeconfig?: string;
  /** Since the change began, until the placement's status tells that all is done. */
  statusMs(): Promise<number>;
  /** From now on each cluster gets content of its own: an override has its name in a value. */
  override(): Promise<void>;
  /** One more change, of which every write is looked at. */
  count(): Promise<Counted>;
  vitals(): Promise<readonly Vitals[]>;
}

interface Heap {
  writes: number;
  bytes: number;
}

export interface Counted {
  readonly bindings: Heap;
  readonly works: Heap;
  readonly placement: Heap;
  readonly onOneMember: number;
}

export const FLEET = '/apis/placement.kubernetes-fleet.io/v1beta1';
export const BINDINGS = `${FLEET}/clusterresourcebindings`;
const PLACEMENTS = `${FLEET}/clusterresourceplacements`;
const OVERRIDES = `${FLEET}/namespaces/shop/resourceoverrides`;
export const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
const MERGE = 'application/merge-patch+json';

const placement = {
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ClusterResourcePlacement',
  metadata: { name: 'web' },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: 'shop' }],
    policy: { placementType: 'PickAll' },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
  },
};

const override = {
  apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
  kind: 'ResourceOverride',
  metadata: { name: 'own' },
  spec: {
    resourceSelectors: [{ group: '', version: 'v1', kind: 'ConfigMap', name: 'app' }],
    policy: {
      overrideRules: [
        {
          clusterSelector: { clusterSelectorTerms: [] },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
          jsonPatchOverrides: [{ op: 'add', path: '/data/cluster', value: '${MEMBER-CLUSTER-NAME}' }],
        },
      ],
    },
  },
};

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

interface Binding {
  readonly metadata: { readonly generation: number };
  readonly spec: {
    readonly targetCluster: string;
    readonly resourceSnapshotName: string;
    readonly resourceOverrideSnapshots?: readonly object[];
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Status {
  readonly observedResourceIndex?: string;
  readonly conditions?: readonly Condition[];
}

const isAvailable = ({ metadata, status }: Binding): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is, observedGeneration }) =>
      type === 'Available' && is === 'True' && observedGeneration === metadata.generation,
  );

const revisionOf = ({ spec }: Binding): number => Number(/-(\d+)-snapshot$/.exec(spec.resourceSnapshotName)?.[1] ?? -1);

/** Where a fleet runs: how its hub and the first of its members are reached, and by which processes it is served. */
export interface Place {
  readonly hub: Wire;
  readonly member: { readonly wire: Wire; readonly path: string };
  /** Certificate, key and authority of the hub's server. */
  readonly files: readonly string[];
  /** Of the fleet, not of API servers that are not ours. */
  readonly pids: readonly number[];
  readonly kubeconfig?: string;
  stop(): Promise<void>;
}

/** Characters of each ConfigMap that is placed. */
export type Content = readonly number[];
const ONE_SMALL: Content = [1000];

export async function startFleet(
  folder: string,
  members: number,
  debounce: string,
  content: Content = ONE_SMALL,
): Promise<Fleet> {
  const place = await startUp(folder, members, debounce);
  try {
    return await fleetIn(folder, members, place, content);
  } catch (error) {
    await place.stop();
    throw error;
  }
}

async function startUp(folder: string, members: number, debounce: string): Promise<Place> {
  const data = mkdtempSync(join(folder, 'data-'));
  const args = [
    'up',
    '--port',
    '0',
    '--data-dir',
    data,
    '--members',
    String(members),
    '--placement-debounce',
    debounce,
  ];
  const up = started(folder, args);
  await said(up, 'ready:');
  const { hub, member, ca } = wiresFrom(data);
  return {
    hub,
    member,
    files: [join(data, 'pki', 'server.crt'), join(data, 'pki', 'server.key'), ca],
    pids: [up.pid as number, ...childrenOf(up.pid as number)],
    async stop() {
      await ended(up);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The program, with vitals; a bench that fails leaves none behind. */
export function started(folder: string, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [...vitalsFlags, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, FLOTILLA_BENCH_FOLDER: folder },
  });
  process.once('exit', () => child.kill());
  return child;
}

/** With the placement and its content in place. */
export async function fleetIn(
  folder: string,
  members: number,
  place: Place,
  content: Content = ONE_SMALL,
): Promise<Fleet> {
  const { hub, member, files, pids } = place;
  const create = (path: string, object: object) => send(hub, 'POST', path, JSON.stringify(object));

  let revision = 0;
  let isOverridden = false;
  let began = performance.now();
  let arrived = new Map<string, number>();
  let allArrived: (ms: readonly number[]) => void = () => {};
  const stopListening = await listen(hub, `${BINDINGS}?watch=true`, (line) => {
    const { object } = JSON.parse(line) as { readonly object: Binding };
    const { targetCluster } = object.spec;
    if (revisionOf(object) < revision || !isAvailable(object) || arrived.has(targetCluster)) return;
    if (isOverridden && object.spec.resourceOverrideSnapshots === undefined) return;
    arrived.set(targetCluster, performance.now() - began);
    if (arrived.size === members) allArrived([...arrived.values()]);
  });
  const delivered = (start: () => Promise<unknown>) =>
    new Promise<readonly number[]>((resolve, reject) => {
      arrived = new Map();
      allArrived = resolve;
      began = performance.now();
      start().catch(reject);
    });
  const change = () => {
    revision++;
    const body = JSON.stringify({ data: { value: String(revision) } });
    return delivered(() => send(hub, 'PATCH', `${CONFIG_MAPS}/app`, body, MERGE));
  };
  async function statusMs() {
    for (;;) {
      const { status } = JSON.parse(await send(hub, 'GET', `${PLACEMENTS}/web`)) as { readonly status?: Status };
      const isDone = (status?.conditions ?? []).some(
        ({ type, status: is }) => type.endsWith('Available') && is === 'True',
      );
      if (isDone && status?.observedResourceIndex === String(revision)) return performance.now() - began;
      await sleep(Math.max(10, members / 10));
    }
  }
  const memberRevision = async () => {
    const list = JSON.parse(await send(member.wire, 'GET', `${member.path}${CONFIG_MAPS}?limit=1`));
    return Number((list as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion);
  };

  await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  for (const [index, length] of content.entries()) {
    // Of no pattern: what is repeated could be stored, or sent, as less than it is.
    const text = randomBytes(length).toString('base64').slice(0, length);
    const name = index === 0 ? 'app' : `app-${index}`;
    await create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value: '0', text } });
  }
  await delivered(() => create(PLACEMENTS, placement));
  await statusMs();

  return {
    wire: hub,
    member,
    files,
    ...(place.kubeconfig === undefined ? {} : { kubeconfig: place.kubeconfig }),
    change,
    statusMs,
    async override() {
      isOverridden = true;
      await delivered(() => create(OVERRIDES, override));
    },
    async count() {
      const heaps = { bindings: emptyHeap(), works: emptyHeap(), placement: emptyHeap() };
      const before = await memberRevision();
      const ends = [
        await counting(hub, BINDINGS, heaps.bindings),
        await counting(hub, `${FLEET}/works`, heaps.works),
        await counting(hub, PLACEMENTS, heaps.placement),
      ];
      await change();
      await statusMs();
      await sleep(500);
      for (const end of ends) end();
      return { ...heaps, onOneMember: (await memberRevision()) - before };
    },
    vitals: () => vitalsOf(folder, pids),
    async [Symbol.asyncDispose]() {
      stopListening();
      await place.stop();
    },
  };
}

const emptyHeap = (): Heap => ({ writes: 0, bytes: 0 });

/** What is there already is not told. */
async function counting(wire: Wire, path: string, heap: Heap): Promise<() => void> {
  const list = JSON.parse(await send(wire, 'GET', `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
  return listen(wire, `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`, (line) => {
    heap.writes++;
    heap.bytes += line.length;
  });
}

/** The hub, and the first of the members: in a path of the same server, or of the one that the members have. */
export function wiresFrom(data: string) {
  const config = parse(readFileSync(join(data, 'kubeconfig'), 'utf8')) as {
    clusters: { name: string; cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
  const user = config.users[0]?.user;
  const wireTo = (name: string) => {
    const cluster = config.clusters.find((each) => each.name === name)?.cluster;
    const url = new URL(cluster?.server ?? '');
    const ca = bytes(cluster?.['certificate-authority-data']);
    const [cert, key] = [bytes(user?.['client-certificate-data']), bytes(user?.['client-key-data'])];
    return { wire: { port: Number(url.port), ca, cert, key }, path: url.pathname === '/' ? '' : url.pathname };
  };
  return { hub: wireTo('hub').wire, member: wireTo('member-1'), ca: join(data, 'pki', 'ca.crt') };
}
