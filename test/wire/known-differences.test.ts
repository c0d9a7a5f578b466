// The rows of docs/known-differences.md that no recorded kubectl command and no refused request shows. Each must hold as long as it is
// listed: who removes a difference removes its row. Against a real server (WIRE_KUBECONFIG) every one of them fails.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, connectionOf } from './https.ts';
import { knownDifferences } from './known.ts';
import { type Server, startServer } from './server.ts';

const real = process.env['WIRE_KUBECONFIG'];
const NAMESPACE = 'known';
const CM = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

type Send = (method: string, path: string, body?: unknown) => ReturnType<typeof call>;

const items = async (send: Send, path: string) => (await send('GET', path)).json?.['items'];
const pod = (rest: object = {}) => ({
  metadata: { name: 'fixed' },
  spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'c:1' }], ...rest },
});
const deployment = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
  },
};
const webhook = {
  metadata: { name: 'known' },
  webhooks: [
    {
      name: 'nobody.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
};
const counters = {
  metadata: { name: 'counters.known.example.com' },
  spec: {
    group: 'known.example.com',
    scope: 'Cluster',
    names: { plural: 'counters', kind: 'Counter' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { count: { type: 'integer', format: 'int64' } } },
        },
      },
    ],
  },
};
const converted = {
  metadata: { name: 'things.known.example.com' },
  spec: {
    group: 'known.example.com',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } },
    },
  },
};

const rows: readonly { readonly id: string; shows(send: Send, kubeconfig: string): Promise<void> }[] = [
  {
    id: 'managed-fields',
    async shows(send, kubeconfig) {
      const path = `${CM}/kube-root-ca.crt`;
      while ((await send('GET', path)).code === 404);
      const owners = async (of: string) => {
        const metadata = (await send('GET', of)).json?.['metadata'] as { readonly managedFields?: readonly object[] };
        return metadata.managedFields;
      };
      expect(await owners(path)).toBeUndefined();
      expect(await send('POST', CM, { metadata: { name: 'owned' }, data: { a: '1' } })).toMatchObject({ code: 201 });
      expect(await owners(`${CM}/owned`)).toMatchObject([
        { operation: 'Update', fieldsV1: { 'f:data': { 'f:a': {} } } },
      ]);
      // The first apply gives what is there to a manager of its own.
      const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { a: 'b' } } };
      const headers = { 'content-type': 'application/apply-patch+yaml' };
      const query = '?fieldManager=one';
      const body = JSON.stringify(applied);
      expect(await call(kubeconfig, 'PATCH', `${path}${query}`, { body, headers })).toMatchObject({ code: 200 });
      expect(await owners(path)).toMatchObject([
        { manager: 'one', operation: 'Apply', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } } } },
        { manager: 'before-first-apply', operation: 'Update', fieldsV1: { 'f:data': { 'f:ca.crt': {} } } },
      ]);
    },
  },
  {
    id: 'watch-future-revision',
    async shows(send) {
      const path = `${CM}?watch=true&resourceVersion=999999999&timeoutSeconds=1`;
      expect(await send('GET', path)).toMatchObject({ code: 504 });
    },
  },
  {
    id: 'controllers',
    async shows(send) {
      expect(await send('POST', `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, deployment)).toMatchObject({
        code: 201,
      });
      // What looks after namespaces comes to this one later than any controller of Deployments would come to that.
      await send('POST', '/api/v1/namespaces', { metadata: { name: 'known-later' } });
      while ((await send('GET', '/api/v1/namespaces/known-later/serviceaccounts/default')).code === 404);
      expect(await items(send, `/apis/apps/v1/namespaces/${NAMESPACE}/replicasets`)).toEqual([]);
    },
  },
  {
    id: 'webhooks',
    async shows(send) {
      const kind = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
      expect(await send('POST', kind, webhook)).toMatchObject({ code: 201 });
      // A real server takes a moment to begin with a webhook, hence so many.
      for (let count = 0; count < 20; count++) {
        const secret = { metadata: { name: `unasked-${count}` } };
        expect(await send('POST', `/api/v1/namespaces/${NAMESPACE}/secrets`, secret)).toMatchObject({ code: 201 });
      }
    },
  },
  {
    id: 'conversion',
    async shows(send) {
      const answer = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', converted);
      expect(answer).toMatchObject({ code: 422, json: { message: expect.stringContaining('spec.conversion') } });
    },
  },
  {
    id: 'quota',
    async shows(send) {
      const quota = { metadata: { name: 'none' }, spec: { hard: { 'count/services': '0' } } };
      const path = `/api/v1/namespaces/${NAMESPACE}/resourcequotas`;
      expect(await send('POST', path, quota)).toMatchObject({ code: 201 });
      const service = { metadata: { name: 'counted' }, spec: { ports: [{ port: 80 }] } };
      expect(await send('POST', `/api/v1/namespaces/${NAMESPACE}/services`, service)).toMatchObject({ code: 201 });
      expect((await send('GET', `${path}/none`)).json?.['status']).toEqual({});
    },
  },
  {
    id: 'flow-control',
    async shows(send) {
      expect(await items(send, '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas')).toEqual([]);
      expect(await items(send, '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations')).toEqual([]);
    },
  },
  {
    id: 'bootstrap-objects',
    async shows(send) {
      expect(await items(send, '/apis/networking.k8s.io/v1/servicecidrs')).toEqual([]);
      expect(await items(send, '/apis/networking.k8s.io/v1/ipaddresses')).toEqual([]);
      expect(await items(send, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases')).toEqual([]);
    },
  },
  {
    id: 'protobuf-answers',
    async shows(_send, kubeconfig) {
      for (const accept of ['application/vnd.kubernetes.protobuf', 'application/cbor']) {
        expect(await call(kubeconfig, 'GET', CM, { headers: { accept } })).toMatchObject({ code: 406 });
      }
    },
  },
  {
    id: 'http2',
    async shows(_send, kubeconfig) {
      const { server, ca } = connectionOf(kubeconfig);
      const { hostname, port } = new URL(server);
      const chosen = await new Promise((resolve, reject) => {
        const socket = connect({ host: hostname, port: Number(port), ca, ALPNProtocols: ['h2', 'http/1.1'] }, () => {
          resolve(socket.alpnProtocol);
          socket.destroy();
        });
        socket.once('error', reject);
      });
      expect(chosen).toBe('http/1.1');
    },
  },
  {
    id: 'openapi-v2',
    async shows(send) {
      expect((await send('GET', '/openapi/v2')).json?.['paths']).toEqual({});
    },
  },
  {
    id: 'descriptions',
    async shows(send) {
      const { components } = (await send('GET', '/openapi/v3/api/v1')).json as {
        components: { schemas: Record<string, { properties: Record<string, { description?: string }> }> };
      };
      const map = components.schemas['io.k8s.api.core.v1.ConfigMap'];
      expect(map?.properties['data']).toBeDefined();
      expect(map?.properties['data']?.description).toBeUndefined();
    },
  },
  {
    id: 'nesting',
    async shows(_send, kubeconfig) {
      const post = (name: string, levels: number) =>
        call(kubeconfig, 'POST', CM, {
          body: `{"metadata":{"name":"${name}"},"unknown":${'['.repeat(levels)}${']'.repeat(levels)}}`,
        });
      expect(await post('deep', 190)).toMatchObject({ code: 201 });
      expect(await post('too-deep', 201)).toMatchObject({ code: 400 });
    },
  },
  {
    id: 'large-integers',
    async shows(send, kubeconfig) {
      const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      expect(await send('POST', crd, counters)).toMatchObject({ code: 201 });
      const path = '/apis/known.example.com/v1/counters';
      while ((await send('GET', path)).code === 404);
      const stored = async (name: string, count: string) => {
        const head = '"apiVersion":"known.example.com/v1","kind":"Counter"';
        const body = `{${head},"metadata":{"name":"${name}"},"count":${count}}`;
        expect(await call(kubeconfig, 'POST', path, { body })).toMatchObject({ code: 201 });
        return (await send('GET', `${path}/${name}`)).text.match(/"count": ?(-?\d+)/)?.[1];
      };
      expect(await stored('exact', '9007199254740991')).toBe('9007199254740991');
      expect(await stored('rounded', '9007199254740993')).toBe('9007199254740992');
    },
  },
  {
    id: 'go-structs',
    async shows(send) {
      const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
      expect(await send('POST', path, pod())).toMatchObject({ code: 201 });
      const answer = await send('PUT', `${path}/fixed`, pod({ hostNetwork: true }));
      expect(answer.code).toBe(422);
      expect(answer.json?.['message']).not.toMatch(/^@@ /m);
    },
  },
  {
    id: 'repeated-fields',
    async shows(_send, kubeconfig) {
      const yaml = { 'content-type': 'application/yaml' };
      const body = 'metadata: {name: twice}\ndata: {a: "1"}\ndata: {a: "2"}\n';
      expect(await call(kubeconfig, 'POST', CM, { body, headers: yaml })).toMatchObject({ code: 400 });
    },
  },
];

/** An hour is too long for a test: src/apiserver/housekeeping/event-expiry.test.ts has it on a clock of its own. */
const UNSEEN = ['event-ttl'];

describe('docs/known-differences.md', () => {
  let server: Server | undefined;
  let kubeconfig: string;
  const send: Send = (method, path, body) =>
    call(kubeconfig, method, path, body === undefined ? {} : { body: JSON.stringify(body) });

  beforeAll(async () => {
    if (real === undefined) server = await startServer();
    kubeconfig = real ?? (server as Server).kubeconfig;
    await send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    while ((await send('GET', `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`)).code === 404);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test.each(rows)('is right about $id', ({ shows }) => shows(send, kubeconfig));

  test('has no row that no test names', () => {
    const folders = [
      import.meta.dirname,
      ...['scripts', 'generated', '.'].map((name) => join(import.meta.dirname, '../judge', name)),
    ];
    const texts = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(join(folder, name), 'utf8')),
    );
    expect(knownDifferences.length).toBeGreaterThan(20);
    const unnamed = knownDifferences.filter(
      (id) => !texts.some((text) => text.includes(`'${id}'`) || text.includes(`\`${id}\``)),
    );
    expect(unnamed).toEqual([]);
    expect(UNSEEN.filter((id) => !knownDifferences.includes(id))).toEqual([]);
  });
});
