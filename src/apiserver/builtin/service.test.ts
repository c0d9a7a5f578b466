import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import { FakeDisk } from '../store/fake-disk.ts';
import { openLog } from '../store/log.ts';
import type { Store } from '../store/store.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { placeOf, someone, testCluster } from './cluster.testing.ts';
import type { ServiceSpec } from './drafts.ts';

async function started(store?: Store) {
  const cluster = { ...testCluster(), ...(store ? { store } : {}) };
  const put = async (object: KubeObject) =>
    (await create(cluster, placeOf(cluster, object, 'team'), object, someone)).stored.object();
  await put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const service = (name: string, spec: ServiceSpec): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec,
  });
  return {
    cluster,
    serve: async (name: string, spec: ServiceSpec) => (await put(service(name, spec))).spec as ServiceSpec,
    drop: (name: string) => remove(cluster, placeOf(cluster, service(name, {}), 'team'), {}, someone),
  };
}

const causeOf = async (attempt: Promise<unknown>): Promise<string> => {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return (error as ApiError).message;
};

const ports = [{ port: 80 }];
const inRange = (ip: string | undefined) => /^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/.test(ip ?? '');

describe('addresses of Services', () => {
  test('come from the range and are the same on every run', async () => {
    const [one, two] = [await started(), await started()];
    const first = await one.serve('web', { ports: [...ports] });
    expect(inRange(first.clusterIP)).toBe(true);
    expect((await two.serve('web', { ports: [...ports] })).clusterIP).toBe(first.clusterIP);
  });

  test('can be asked for, but not twice', async () => {
    const { serve } = await started();
    expect((await serve('a', { clusterIP: '10.96.0.10', ports: [...ports] })).clusterIPs).toEqual(['10.96.0.10']);
    expect(await causeOf(serve('b', { clusterIP: '10.96.0.10', ports: [...ports] }))).toBe(
      'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated',
    );
  });

  test('are not given twice while the first is still on its way to the disk', async () => {
    const log = await openLog({ disk: new FakeDisk() });
    const { serve } = await started(log.store('a'));
    const asked = { clusterIP: '10.96.0.10', type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] };
    const [first, second, third] = await Promise.allSettled([
      serve('a', structuredClone(asked)),
      serve('b', structuredClone(asked)),
      serve('c', { type: 'NodePort', ports: [{ port: 80, nodePort: 30001 }] }),
    ]);
    expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'rejected']);
    await log.close();
  });

  test('are free again when their Service is gone', async () => {
    const { serve, drop } = await started();
    await serve('a', { clusterIP: '10.96.0.10', ports: [...ports] });
    await drop('a');
    expect((await serve('b', { clusterIP: '10.96.0.10', ports: [...ports] })).clusterIP).toBe('10.96.0.10');
  });

  test.each(['10.96.0.0', '10.111.255.255', '10.95.255.255', '10.112.0.0'])('do not include %s', async (clusterIP) => {
    const { serve } = await started();
    expect(await causeOf(serve('a', { clusterIP, ports: [...ports] }))).toContain('is not in the valid range');
  });

  test('step aside for one that is taken', async () => {
    const { clusterIP } = await (await started()).serve('web', { ports: [...ports] });
    const { serve } = await started();
    await serve('squatter', { clusterIP: clusterIP as string, ports: [...ports] });
    const other = await serve('web', { ports: [...ports] });
    expect(inRange(other.clusterIP)).toBe(true);
    expect(other.clusterIP).not.toBe(clusterIP);
  });

  test('a dry run takes nothing', async () => {
    const { cluster, serve } = await started();
    const object = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'dry' },
      spec: { clusterIP: '10.96.0.9', ports },
    };
    await create(cluster, placeOf(cluster, object, 'team'), object, { ...someone, dryRun: true });
    expect((await serve('wet', { clusterIP: '10.96.0.9', ports: [...ports] })).clusterIP).toBe('10.96.0.9');
  });
});

describe('node ports', () => {
  test('out of range or taken are refused', async () => {
    const { serve } = await started();
    const ask = (name: string, nodePort: number) => serve(name, { type: 'NodePort', ports: [{ port: 80, nodePort }] });
    expect(await causeOf(ask('low', 80))).toBe(
      'Service "low" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
    await ask('a', 30080);
    expect(await causeOf(ask('b', 30080))).toBe(
      'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    );
  });

  test('may be shared by protocols of one number', async () => {
    const { serve } = await started();
    const spec = await serve('dns', {
      type: 'NodePort',
      ports: [
        { name: 'udp', port: 53, protocol: 'UDP' },
        { name: 'tcp', port: 53, protocol: 'TCP' },
      ],
    });
    expect(spec.ports?.[0]?.nodePort).toBe(spec.ports?.[1]?.nodePort);
  });
});

test('no two Services ever share an address or a port, in whatever order they come and go', async () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
    isDrop: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { cluster, serve, drop } = await started();
      // In parallel: the allocation of one is not visible yet when the next one is made.
      await Promise.allSettled(
        steps.map(({ name, type, isDrop }) =>
          isDrop
            ? drop(name)
            : serve(name, { type, externalTrafficPolicy: undefined, ports: [{ port: 80 }] } as ServiceSpec),
        ),
      );
      const specs = cluster.store.range('/services/').items.map((stored) => stored.object().spec as ServiceSpec);
      const taken = specs.flatMap((spec) => [spec.clusterIP, ...(spec.ports ?? []).map((port) => port.nodePort)]);
      const used = taken.filter((each) => each !== undefined);
      expect(new Set(used).size).toBe(used.length);
    }),
    { numRuns: runs(60) },
  );
});
