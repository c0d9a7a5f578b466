// A controller built on controller-runtime, from the Go module registry, on the embedded server: it applies what it wants of a Deployment, a ConfigMap and
// its own status, meets another manager, gives fields up and is restarted.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { canBuild } from '../../scripts/kube/build.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { kubectlPath, type Server, skipsKubectl, startServer } from './server.ts';

const isSkipped = process.env['CI'] === undefined && (skipsKubectl || !canBuild());

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shops.shops.example.com' },
  spec: {
    group: 'shops.example.com',
    scope: 'Namespaced',
    names: { plural: 'shops', singular: 'shop', kind: 'Shop', listKind: 'ShopList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  image: { type: 'string' },
                  replicas: { type: 'integer' },
                  labels: { type: 'object', additionalProperties: { type: 'string' } },
                  force: { type: 'boolean' },
                },
              },
              status: {
                type: 'object',
                properties: {
                  observedGeneration: { type: 'integer' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type'],
                      properties: {
                        type: { type: 'string' },
                        status: { type: 'string' },
                        message: { type: 'string' },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

interface Controller {
  readonly process: ChildProcess;
  output(): string;
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: { readonly 'f:spec'?: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;
}

describe.skipIf(isSkipped)('a controller that applies', () => {
  let server: Server;
  let program: string;
  let controller: Controller;
  const all: ChildProcess[] = [];

  function start(): Controller {
    const child = spawn(program, [], {
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    all.push(child);
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
    return { process: child, output: () => printed.join('') };
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  const read = async (what: string): Promise<KubeObject> =>
    JSON.parse(await server.ok(['get', ...what.split(' '), '-o', 'json', '--show-managed-fields'])) as KubeObject;
  const shape = (spec: object) => server.ok(['patch', 'shop', 'web', '--type=merge', '-p', JSON.stringify({ spec })]);
  const entriesOf = ({ metadata }: KubeObject) => metadata.managedFields as readonly Entry[];
  const ownersOf = (object: KubeObject, field: string): readonly string[] =>
    entriesOf(object)
      .filter(({ fieldsV1 }) => fieldsV1['f:spec']?.[`f:${field}`] !== undefined)
      .map(({ manager }) => manager)
      .toSorted();
  /** What the controller says of the newest generation, once it has seen it. */
  const report = async () => {
    const shop = await read('shop web');
    const { observedGeneration, conditions } = (shop.status ?? {}) as {
      observedGeneration?: number;
      conditions?: readonly { status: string; message: string }[];
    };
    return observedGeneration === shop.metadata.generation ? conditions?.[0] : undefined;
  };
  const untilReported = (wanted: object) =>
    expect.poll(report, { timeout: patience(30_000), message: controller.output() }).toMatchObject(wanted);

  beforeAll(async () => {
    if (kubectlPath === undefined || !canBuild()) throw new Error('this needs kubectl and Go');
    server = await startServer();
    program = join(server.folder, 'controller');
    const built = spawnSync('go', ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-o', program, '.'], {
      cwd: join(import.meta.dirname, 'controller'),
      env: { ...process.env, CGO_ENABLED: '0' },
      encoding: 'utf8',
    });
    if (built.status !== 0) throw new Error(`the controller cannot be built:\n${built.stderr}`);
    await server.ok(['apply', '-f', '-'], JSON.stringify(definition));
    await server.ok(['wait', '--for=condition=Established', 'crd/shops.shops.example.com', '--timeout=30s']);
    controller = start();
    await server.ok(
      ['create', '-f', '-'],
      JSON.stringify({
        apiVersion: 'shops.example.com/v1',
        kind: 'Shop',
        metadata: { name: 'web' },
        spec: { image: 'shop:1', replicas: 3, labels: { tier: 'front' } },
      }),
    );
  }, patience(600_000));

  afterAll(async () => {
    await Promise.all(all.map(end));
    await server?.[Symbol.asyncDispose]();
  });

  test('makes what it describes, and owns exactly that', async () => {
    await untilReported({ status: 'True', message: 'applied' });
    const deployment = await read('deployment web');
    expect(deployment).toMatchObject({ metadata: { labels: { tier: 'front' } }, spec: { replicas: 3 } });
    expect((await read('configmap web'))['data']).toEqual({ image: 'shop:1' });
    expect(entriesOf(deployment)).toMatchObject([
      {
        manager: 'shop-controller',
        operation: 'Apply',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:tier': {} }, 'f:ownerReferences': expect.anything() },
          'f:spec': { 'f:replicas': {}, 'f:selector': {} },
        },
      },
    ]);
    expect(entriesOf(await read('shop web')).find(({ subresource }) => subresource === 'status')).toMatchObject({
      manager: 'shop-controller',
      operation: 'Apply',
      fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Applied"}': { '.': {}, 'f:status': {} } } } },
    });
  });

  test('tells of the conflict with a manager that took a field by force', async () => {
    const scaled = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 5 } };
    const taking = ['apply', '--server-side', '--field-manager=scaler', '-f', '-'];
    const refused = await server.kubectl(taking, JSON.stringify(scaled));
    expect(refused.stderr).toContain('conflict with "shop-controller": .spec.replicas');
    await server.ok([...taking, '--force-conflicts'], JSON.stringify(scaled));
    await untilReported({
      status: 'False',
      message: expect.stringContaining('conflict with "scaler": .spec.replicas'),
    });
    const deployment = await read('deployment web');
    expect(deployment).toMatchObject({ spec: { replicas: 5 } });
    expect(ownersOf(deployment, 'replicas')).toEqual(['scaler']);
  });

  test('gives the field up and leaves it to the other', async () => {
    await shape({ replicas: null, image: 'shop:2' });
    await untilReported({ status: 'True' });
    const deployment = await read('deployment web');
    expect(deployment).toMatchObject({
      spec: { replicas: 5, template: { spec: { containers: [{ image: 'shop:2' }] } } },
    });
    expect(ownersOf(deployment, 'replicas')).toEqual(['scaler']);
  });

  test('takes it back by force', async () => {
    await shape({ replicas: 2, force: true });
    await untilReported({ status: 'True' });
    const deployment = await read('deployment web');
    expect(deployment).toMatchObject({ spec: { replicas: 2 } });
    expect(ownersOf(deployment, 'replicas')).toEqual(['shop-controller']);
  });

  test('what it gives up and nobody else owns is deleted or has its default, what others own stays', async () => {
    await server.ok(['label', 'deployment', 'web', 'by=hand']);
    await shape({ replicas: null, labels: null, force: null });
    await untilReported({ status: 'True' });
    const deployment = await read('deployment web');
    expect(deployment).toMatchObject({ metadata: { labels: { by: 'hand' } }, spec: { replicas: 1 } });
    expect(deployment.metadata.labels).toEqual({ by: 'hand' });
    expect(ownersOf(deployment, 'replicas')).toEqual([]);
  });

  test('writes nothing after a restart', async () => {
    const before = await Promise.all(['deployment web', 'configmap web', 'shop web'].map(read));
    await end(controller.process);
    controller = start();
    await expect
      .poll(() => controller.output(), { timeout: patience(60_000) })
      .toContain(`reconciled web generation ${before[2]?.metadata.generation}`);
    const after = await Promise.all(['deployment web', 'configmap web', 'shop web'].map(read));
    expect(after).toEqual(before);
  });
});
