import { expect, test } from 'vitest';
import { aCluster, admin } from '../../test/cluster.ts';
import { turns } from '../../test/runtime/turns.ts';
import type { Transport } from '../api/transport.ts';
import { LostError } from '../base/errors.ts';
import { silentLog } from '../runtime/deps.ts';
import type { Manager } from '../runtime/manager.ts';
import { runWhileLeading } from './leading.ts';

test('a part begins only when what it needs to know was read anew, however often that fails', async () => {
  await using cluster = await aCluster();
  const told: string[] = [];
  let failures = 2;
  const leading = runWhileLeading({
    transport: cluster.as(admin),
    log: silentLog,
    clock: cluster.clock,
    namespace: 'default',
    lease: 'the-lease',
    async prepare() {
      told.push('prepare');
      if (failures-- > 0) throw new LostError('cut');
    },
    start() {
      told.push('start');
      return { stop: async () => {} } as unknown as Manager;
    },
  });
  for (let i = 0; i < 12; i++) {
    cluster.clock.advance(500);
    await turns(2);
  }
  expect(told).toEqual(['prepare', 'prepare', 'prepare', 'start']);
  await leading.stop();
});

test('a part begins only when the former one has stopped for good, and none is left behind', async () => {
  await using cluster = await aCluster();
  const inner = cluster.as(admin);
  let isCut = false;
  const transport: Transport = {
    watch: inner.watch,
    call: async (request, signal) => {
      if (isCut) throw new LostError('cut');
      return inner.call(request, signal);
    },
  };
  const told: string[] = [];
  const stops: (() => void)[] = [];
  const rights: (() => boolean)[] = [];
  const leading = runWhileLeading({
    transport,
    log: silentLog,
    clock: cluster.clock,
    namespace: 'default',
    lease: 'the-lease',
    start(mayWrite) {
      const number = rights.push(mayWrite);
      told.push(`start ${number}`);
      const stop = async () => {
        told.push(`stop ${number}`);
        await new Promise<void>((resolve) => stops.push(resolve));
        told.push(`stopped ${number}`);
      };
      return { stop } as unknown as Manager;
    },
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      cluster.clock.advance(500);
      await turns(2);
    }
  };
  await pass(3000);
  expect(told).toEqual(['start 1']);
  expect(rights[0]?.()).toBe(true);

  isCut = true;
  await pass(12_000);
  expect(told).toEqual(['start 1', 'stop 1']);
  isCut = false;
  await pass(20_000);
  // It leads again, but the first part is still stopping.
  expect(leading.leader.isLeading()).toBe(true);
  expect(leading.manager()).toBeUndefined();
  expect(told).toEqual(['start 1', 'stop 1']);
  stops[0]?.();
  await turns();
  expect(told).toEqual(['start 1', 'stop 1', 'stopped 1', 'start 2']);
  expect([rights[0]?.(), rights[1]?.()]).toEqual([false, true]);

  let isStopped = false;
  const stopping = leading.stop().then(() => {
    isStopped = true;
  });
  await turns();
  expect(isStopped).toBe(false);
  stops[1]?.();
  await stopping;
  expect(told.slice(4)).toEqual(['stop 2', 'stopped 2']);
});
