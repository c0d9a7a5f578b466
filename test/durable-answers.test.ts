// What a client was told stays true after a crash, also when there was nothing to write for it.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../src/api/object.ts';
import { FakeDisk } from '../src/apiserver/store/fake-disk.ts';
import { openLog } from '../src/apiserver/store/log.ts';
import { aCluster, type TestCluster } from './cluster.ts';

class SlowDisk extends FakeDisk {
  let: Promise<void> | undefined;

  override async sync(file: string): Promise<void> {
    await this.let;
    return super.sync(file);
  }
}

/** A cluster on a log that syncs when it is let. */
async function slowCluster() {
  const disk = new SlowDisk();
  const log = await openLog({ disk });
  const cluster = await aCluster({ store: log.store('a') });
  let release = () => {};
  return {
    cluster,
    hold() {
      disk.let = new Promise((resolve) => (release = resolve));
    },
    release: () => release(),
  };
}

const map = (cluster: TestCluster) => cluster.at('configmaps', 'default', 'a');
const merge = (cluster: TestCluster, body: object) =>
  cluster.call({ verb: 'patch', at: map(cluster), patch: { type: 'merge', body: body as never }, manager: 'test' });

describe('an answer that needs no write', () => {
  test.each<{ it: string; first: (cluster: TestCluster) => Promise<unknown> }>([
    { it: 'because a patch changes nothing', first: (cluster) => merge(cluster, { data: { x: '1' } }) },
    {
      it: 'because the object is being deleted already',
      first: (cluster) => cluster.call({ verb: 'delete', at: map(cluster) }),
    },
  ])('$it waits for the write that it rests on', async ({ first }) => {
    const { cluster, hold, release } = await slowCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a', finalizers: ['example.io/hold'] } });
    await cluster.settled();
    hold();
    const written = first(cluster);
    let isAnswered = false;
    const again = first(cluster).then((answer) => {
      isAnswered = true;
      return answer;
    });
    await new Promise(setImmediate);
    expect(isAnswered).toBe(false);
    release();
    const [one, two] = (await Promise.all([written, again])) as { object: KubeObject }[];
    expect(two?.object.metadata.resourceVersion).toBe(one?.object.metadata.resourceVersion);
    expect(cluster.store.visible).toBe(Number(one?.object.metadata.resourceVersion));
    await cluster[Symbol.asyncDispose]();
  });
});

describe('a refusal', () => {
  type Do = (cluster: TestCluster) => Promise<unknown>;
  const remove: Do = (cluster) => cluster.call({ verb: 'delete', at: map(cluster) });
  test.each<{ reason: string; before?: Do; first: Do; second: Do }>([
    {
      reason: 'Conflict',
      first: (cluster) => merge(cluster, { data: { x: '1' } }),
      second: (cluster) =>
        merge(cluster, { metadata: { resourceVersion: String(cluster.store.visible) }, data: { x: '2' } }),
    },
    {
      reason: 'AlreadyExists',
      before: remove,
      first: (cluster) => cluster.create('configmaps', 'default', { metadata: { name: 'a' } }),
      second: (cluster) => cluster.create('configmaps', 'default', { metadata: { name: 'a' } }),
    },
    { reason: 'NotFound', first: remove, second: remove },
  ])('because of $reason waits until a reader can see why', async ({ reason, before, first, second }) => {
    const { cluster, hold, release } = await slowCluster();
    await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
    await before?.(cluster);
    await cluster.settled();
    hold();
    const written = first(cluster);
    let refusal: { readonly reason: string } | undefined;
    const refused = second(cluster).catch((error) => {
      refusal = error;
    });
    await new Promise(setImmediate);
    expect(refusal).toBe(undefined);
    release();
    await Promise.all([written, refused]);
    expect(refusal).toMatchObject({ reason });
    await cluster[Symbol.asyncDispose]();
  });
});

test('a write that a full disk refuses is a 503 that says why', async () => {
  const disk = new FakeDisk();
  const log = await openLog({ disk });
  await using cluster = await aCluster({ store: log.store('a') });
  await cluster.create('configmaps', 'default', { metadata: { name: 'a' } });
  disk.capacity = 0;
  const refused = merge(cluster, { data: { x: '1' } });
  await expect(refused).rejects.toMatchObject({ name: 'ApiError', code: 503, reason: 'ServiceUnavailable' });
  await expect(refused).rejects.toThrow(/nothing was written: the disk of fake-disk is full/);
  disk.capacity = Number.POSITIVE_INFINITY;
  await merge(cluster, { data: { x: '1' } });
});
