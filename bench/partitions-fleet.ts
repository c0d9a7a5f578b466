// A partitioned rollout as people have it: `flotilla up` with the members of seed-000-200, and one placement of a namespace with one ConfigMap.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINDINGS, CONFIG_MAPS, FLEET, type Place, started, wiresFrom } from './deliver-fleet.ts';
import { listen, send, type Wire } from './deliver-wire.ts';
import { ended, said } from './fleet-process.ts';
import { memberName } from './staged-fleet.ts';

const PLACEMENTS = `${FLEET}/clusterresourceplacements`;
const NAME = 'shop';

export interface Rolled {
  /** From the change until its last cluster is available with it. */
  readonly ms: number;
  /** From the move of a cluster until it is available, added up. */
  readonly sumMs: number;
}

export interface PartitionedFleet extends AsyncDisposable {
  readonly wire: Wire;
  readonly member: Place['member'];
  /** Creates the placement. */
  install(partitioned: object): Promise<Rolled>;
  /** Changes what it places. */
  update(): Promise<Rolled>;
  remove(): Promise<void>;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

interface Binding {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly state: string; readonly targetCluster: string; readonly resourceSnapshotName: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const isAvailable = ({ metadata, status }: Binding): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is, observedGeneration }) =>
      type === 'Available' && is === 'True' && observedGeneration === metadata.generation,
  );

export async function startPartitionedFleet(folder: string, members: number): Promise<PartitionedFleet> {
  const data = mkdtempSync(join(folder, 'data-'));
  const fleetFile = join(folder, 'waves.json');
  // As in the fleets that ship for seed 000.
  const fleet = Array.from({ length: members }, (_, at) => ({
    name: memberName(at),
    labels: {
      stage: at < Math.ceil(members / 10) ? 'demoRollout' : 'stable',
      wave: String(Math.ceil((5 * (at + 1)) / members)),
    },
  }));
  writeFileSync(fleetFile, JSON.stringify({ members: fleet }));
  const up = started(folder, ['up', '--port', '0', '--data-dir', data, '--fleet', fleetFile]);
  await said(up, 'ready:');
  const { hub, member } = wiresFrom(data);
  const create = (path: string, object: object) => send(hub, 'POST', path, JSON.stringify(object));
  await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAME } });
  const content = { value: '0', text: 'x'.repeat(1000) };
  await create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app' }, data: content });

  let value = 0;
  let before = '';
  let moved = new Map<string, number>();
  let available = new Map<string, number>();
  let hear: () => void = () => {};
  const stop = await listen(hub, `${BINDINGS}?watch=true`, (line) => {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Binding };
    const { state, targetCluster, resourceSnapshotName } = object.spec;
    if (type === 'DELETED' || state !== 'Bound' || resourceSnapshotName === before) return;
    if (!moved.has(targetCluster)) moved.set(targetCluster, performance.now());
    if (!isAvailable(object) || available.has(targetCluster)) return;
    available.set(targetCluster, performance.now());
    hear();
  });

  async function roll(change: () => Promise<unknown>): Promise<Rolled> {
    moved = new Map();
    available = new Map();
    const all = new Promise<void>((resolve) => {
      hear = () => available.size === members && resolve();
    });
    const began = performance.now();
    await change();
    await all;
    const last = Math.max(...available.values());
    const sumMs = [...available].reduce((sum, [cluster, at]) => sum + at - (moved.get(cluster) ?? at), 0);
    return { ms: last - began, sumMs };
  }

  const newest = async (): Promise<string> => {
    const { items } = JSON.parse(await send(hub, 'GET', BINDINGS)) as { readonly items: readonly Binding[] };
    return items[0]?.spec.resourceSnapshotName ?? '';
  };

  return {
    wire: hub,
    member,
    install(partitioned) {
      before = '';
      return roll(() =>
        create(PLACEMENTS, {
          apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
          kind: 'ClusterResourcePlacement',
          metadata: { name: NAME },
          spec: {
            resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: NAME }],
            strategy: { type: 'Partitioned', partitioned },
          },
        }),
      );
    },
    async update() {
      before = await newest();
      const body = JSON.stringify({ data: { value: String(++value) } });
      return roll(() => send(hub, 'PATCH', `${CONFIG_MAPS}/app`, body, 'application/merge-patch+json'));
    },
    async remove() {
      await send(hub, 'DELETE', `${PLACEMENTS}/${NAME}`);
      while ((await send(hub, 'GET', BINDINGS)).includes('"targetCluster"')) await sleep(200);
    },
    async [Symbol.asyncDispose]() {
      stop();
      await ended(up);
      rmSync(data, { recursive: true, force: true });
    },
  };
}
