import { describe, expect, test } from 'vitest';
import { aCluster, admin, type TestCluster } from '../../test/cluster.ts';
import { type Counted, counted } from '../../test/runtime/counted.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { KubeObject } from '../api/object.ts';
import type { Answer, Transport } from '../api/transport.ts';
import { LostError } from '../base/errors.ts';
import { seededRandom } from '../base/random.ts';
import { silentLog } from './deps.ts';
import { createRecorder, type Recorder, type RecorderOptions } from './events.ts';
import { noMetrics } from './metrics.ts';
import type { EventAction } from './perform.ts';

const about = (name: string, message = 'it happened', reason = 'Happened'): EventAction => ({
  do: 'event',
  on: 'hub',
  about: { apiVersion: 'v1', group: '', kind: 'ConfigMap', namespace: 'default', name, uid: `${name}-uid` },
  type: 'Normal',
  reason,
  message,
  because: message,
});

function recording(
  cluster: TestCluster,
  more: Partial<RecorderOptions> & { readonly transport?: Transport } = {},
): { readonly recorder: Recorder; readonly asked: Counted } {
  const asked = counted(more.transport ?? cluster.as(admin));
  const recorder = createRecorder({
    deps: { clock: cluster.clock, random: seededRandom(1), servers: { hub: asked }, log: silentLog },
    manager: 'me',
    metrics: noMetrics,
    mayWrite: () => true,
    signal: new AbortController().signal,
    ...more,
  });
  return { recorder, asked };
}

const all = async (cluster: TestCluster): Promise<readonly KubeObject[]> =>
  (await cluster.call({ verb: 'list', at: cluster.at('events', 'default') })).list?.items ?? [];

describe('a recorder of Events', () => {
  test('writes what people and tools expect to find', async () => {
    await using cluster = await aCluster();
    const { recorder } = recording(cluster);
    recorder.record('my-controller', about('a'));
    await turns();
    expect(await all(cluster)).toEqual([
      expect.objectContaining({
        apiVersion: 'v1',
        kind: 'Event',
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'a', uid: 'a-uid' },
        reason: 'Happened',
        message: 'it happened',
        type: 'Normal',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'my-controller' },
        reportingComponent: 'my-controller',
      }),
    ]);
    expect(recorder.pending).toBe(0);
  });

  test('loses nothing that is said at the very moment it has finished', async () => {
    for (let later = 0; later < 12; later++) {
      let written = 0;
      const call = async (): Promise<Answer> => {
        written++;
        return { warnings: [] };
      };
      const transport: Transport = { call, watch: async function* () {} };
      await using cluster = await aCluster();
      const { recorder } = recording(cluster, { transport });
      recorder.record('my-controller', about('a'));
      for (let i = 0; i < later; i++) await undefined;
      recorder.record('my-controller', about('b'));
      await turns();
      expect({ later, written, pending: recorder.pending }).toEqual({ later, written: 2, pending: 0 });
    }
  });

  test('counts what is said again, and tells the server once a minute', async () => {
    await using cluster = await aCluster();
    const { recorder, asked } = recording(cluster);
    for (let second = 0; second < 150; second++) {
      recorder.record('c', about('a'));
      cluster.clock.advance(1000);
      await turns(1);
    }
    cluster.clock.advance(60_000);
    await turns();
    expect((await all(cluster)).map(({ count, lastTimestamp }) => [count, lastTimestamp])).toEqual([
      [150, '2026-01-01T00:02:29Z'],
    ]);
    expect(asked.calls.map(({ verb }) => verb)).toEqual(['create', 'patch', 'patch', 'patch']);
    cluster.clock.advance(3_600_000);
    await turns();
    expect(asked.calls.length).toBe(4);
  });

  test('gives the same news the same name, so that a restarted process counts on', async () => {
    await using cluster = await aCluster();
    for (let life = 0; life < 3; life++) {
      const { recorder } = recording(cluster);
      recorder.record('c', about('a'));
      await turns();
      await recorder.stop();
    }
    expect((await all(cluster)).map(({ count }) => count)).toEqual([3]);
  });

  test('tells apart who, what, about whom and why', async () => {
    await using cluster = await aCluster();
    const { recorder } = recording(cluster);
    recorder.record('c', about('a'));
    recorder.record('d', about('a'));
    recorder.record('c', about('b'));
    recorder.record('c', about('a', 'another thing'));
    recorder.record('c', about('a', 'it happened', 'Other'));
    await turns(10);
    expect((await all(cluster)).length).toBe(5);
  });

  test('writes anew what the server has forgotten', async () => {
    await using cluster = await aCluster();
    const { recorder } = recording(cluster);
    recorder.record('c', about('a'));
    await turns();
    const [written] = await all(cluster);
    await cluster.call({ verb: 'delete', at: cluster.at('events', 'default', written?.metadata.name) });
    cluster.clock.advance(60_000);
    recorder.record('c', about('a'));
    await turns();
    expect((await all(cluster)).map(({ count }) => count)).toEqual([2]);
  });

  test('bounds how much is said about one object, and lets it speak again later', async () => {
    await using cluster = await aCluster();
    const { recorder } = recording(cluster, { burst: 5, refillMs: 60_000 });
    for (let i = 0; i < 50; i++) recorder.record('c', about('a', `message ${i}`));
    recorder.record('c', about('b'));
    await turns(20);
    expect((await all(cluster)).length).toBe(6);
    cluster.clock.advance(60_000);
    for (let i = 50; i < 60; i++) recorder.record('c', about('a', `message ${i}`));
    await turns(20);
    expect((await all(cluster)).length).toBe(7);
  });

  test('remembers a bounded number', async () => {
    await using cluster = await aCluster();
    const { recorder } = recording(cluster, { max: 20 });
    for (let i = 0; i < 200; i++) recorder.record('c', about(`o${i}`));
    await turns(100);
    expect(recorder.known).toBe(20);
    expect((await all(cluster)).length).toBe(200);
  });

  test('shortens what is too long, names and messages', async () => {
    await using cluster = await aCluster();
    const { recorder } = recording(cluster);
    recorder.record('c', about(`${'a'.repeat(235)}.${'b'.repeat(10)}`, 'm'.repeat(5000)));
    await turns();
    const [written] = await all(cluster);
    expect(written?.['message']).toBe(`${'m'.repeat(1021)}...`);
    expect(written?.metadata.name?.length).toBeLessThanOrEqual(253);
  });

  test('never throws at who records, whatever the server does', async () => {
    await using cluster = await aCluster();
    const transport: Transport = {
      ...cluster.as(admin),
      call: () => Promise.reject(new LostError('down')),
    };
    const { recorder } = recording(cluster, { transport });
    recorder.record('c', about('a'));
    await turns();
    expect(recorder.pending).toBe(0);
    await recorder.stop();
  });

  test('writes nothing behind the fence and after it was stopped', async () => {
    await using cluster = await aCluster();
    let mayWrite = false;
    const { recorder, asked } = recording(cluster, { mayWrite: () => mayWrite });
    recorder.record('c', about('a'));
    await turns();
    mayWrite = true;
    await recorder.stop();
    recorder.record('c', about('b'));
    cluster.clock.advance(600_000);
    await turns();
    expect(asked.calls).toEqual([]);
  });
});
