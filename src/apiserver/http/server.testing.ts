// For tests of this folder: a listener on 127.0.0.1 with a memory store and the real verbs, and a few kinds without
// rules.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { KubeObject, User } from '../../api/object.ts';
import { unauthorized } from '../../api/status.ts';
import { type Clock, wallClock } from '../../base/clock.ts';
import { type Random, seededRandom } from '../../base/random.ts';
import { bareCluster } from '../builtin/cluster.testing.ts';
import type { Attributes, Cluster } from '../cluster.ts';
import { createRegistry, type LiveRegistry } from '../live-registry.ts';
import type { ServedResource, ServedVersion, TableShape } from '../registry.ts';
import { verbs as realVerbs } from '../verbs/all.ts';
import type { HttpCluster, Verbs } from './http-cluster.ts';
import type { Limits } from './limits.ts';
import { type Listening, type ServeOptions, serve } from './server.ts';

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const nameTable: TableShape = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: 'The name.', priority: 0 },
    { name: 'Age', type: 'string', format: '', description: 'The age.', priority: 0 },
  ],
  cells: (object) => [object.metadata.name ?? '', '1s'],
};

export const aVersion = (version: string, more: Partial<ServedVersion> = {}): ServedVersion => ({
  version,
  served: true,
  schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  structure: { default() {}, prune: () => [], decodeError: () => undefined, validate: () => [] },
  table: nameTable,
  ...more,
});

export function aResource(
  named: Pick<ServedResource, 'group' | 'plural' | 'kind' | 'namespaced'> & Partial<ServedResource>,
): ServedResource {
  const versions = named.versions ?? [aVersion('v1')];
  return {
    singular: named.kind.toLowerCase(),
    listKind: `${named.kind}List`,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    stored: versions[0] as ServedVersion,
    hasStatus: false,
    subresources: [],
    behaviour: {
      countsGeneration: false,
      createOnUpdate: false,
      unconditionalUpdate: true,
      returnsDeleted: false,
      nameError: () => undefined,
    },
    ...named,
    versions,
  };
}

const builtin: readonly ServedResource[] = [
  aResource({ group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true, shortNames: ['cm'] }),
  aResource({ group: '', plural: 'namespaces', kind: 'Namespace', namespaced: false, hasStatus: true }),
  aResource({ group: '', plural: 'nodes', kind: 'Node', namespaced: false, hasStatus: true }),
  aResource({ group: '', plural: 'pods', kind: 'Pod', namespaced: true, hasStatus: true }),
  aResource({
    group: 'apps',
    plural: 'deployments',
    kind: 'Deployment',
    namespaced: true,
    hasStatus: true,
    shortNames: ['deploy'],
    categories: ['all'],
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  }),
];

const v1beta1 = aVersion('v1beta1', { deprecationWarning: 'use v1, not "v1beta1"' });

/** Stored as v1beta1, also served as v1. */
export const widgets = aResource({
  group: 'example.dev',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
  versions: [v1beta1, aVersion('v1')],
  stored: v1beta1,
  custom: { crdName: 'widgets.example.dev', crdUid: 'u' },
});

export interface TestCluster extends HttpCluster {
  readonly cluster: Cluster & { readonly registry: LiveRegistry };
  /** The queries to the authorizer. */
  readonly asked: Attributes[];
  seed(objects: readonly KubeObject[]): void;
}

export interface TestClusterOptions {
  readonly name?: string;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly verbs?: Partial<Verbs>;
  allows?(user: User, what: Attributes): boolean;
  readonly checks?: HttpCluster['checks'];
}

/** Token `t-<name>` is that user; other tokens are invalid; no token is anonymous. */
export function aCluster(options: TestClusterOptions = {}): TestCluster {
  const { name = 'root', clock = wallClock, random = seededRandom(1), allows = () => true } = options;
  const asked: Attributes[] = [];
  const registry = createRegistry(builtin);
  registry.setCustom([widgets]);
  const cluster: TestCluster['cluster'] = bareCluster({
    name,
    registry,
    clock,
    random,
    authorizer: {
      allows(user: User, what: Attributes) {
        asked.push(what);
        return { allowed: allows(user, what), reason: '' };
      },
      rulesFor: () => [],
    },
  });
  const seed = (objects: readonly KubeObject[]) => {
    for (const value of objects) {
      const found = registry.findKind(value.apiVersion.split('/').at(-2) ?? '', value.kind)?.resource as ServedResource;
      const { namespace = '', name: word } = value.metadata;
      cluster.store.commit({ key: `${found.group}/${found.plural}/${namespace}/${word}`, expect: 'absent', value });
    }
  };
  seed([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', uid: 'ns' }, status: { phase: 'Active' } },
  ]);
  return {
    cluster,
    asked,
    seed,
    verbs: { ...realVerbs, ...options.verbs },
    authenticate({ certificate, authorization }) {
      if (certificate) return { name: certificate.commonName, groups: certificate.organizations };
      if (authorization === undefined) return { name: 'system:anonymous', groups: ['system:unauthenticated'] };
      const token = /^Bearer t-(.+)$/.exec(authorization);
      return token ? { name: token[1] as string, groups: [] } : unauthorized();
    },
    ...(options.checks ? { checks: options.checks } : {}),
  };
}

export const aConfigMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  data,
});

export interface TestServer extends Listening {
  readonly clusters: Map<string, HttpCluster>;
  call(method: string, path: string, request?: CallOptions): Promise<Reply>;
  /** Sends raw bytes and returns everything received until the server closes or `until` matches. */
  raw(bytes: string | Uint8Array, until?: RegExp): Promise<string>;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes.
  readonly json: any;
}

export async function aServer(
  root: HttpCluster = aCluster(),
  options: Partial<Omit<ServeOptions, 'limits' | 'clusters'>> & { readonly limits?: Partial<Limits> } = {},
): Promise<TestServer> {
  const clusters = new Map<string, HttpCluster>([['', root]]);
  const listening = await serve({
    clusters: (name) => clusters.get(name),
    host: '127.0.0.1',
    port: 0,
    plainHttp: { user: { name: 'me', groups: ['system:masters'] } },
    clock: wallClock,
    ...options,
    limits: { closeMs: 200, ...options.limits },
  });
  const { port } = listening;
  return Object.assign(listening, {
    clusters,
    call: (method: string, path: string, { headers = {}, body }: CallOptions = {}) =>
      new Promise<Reply>((resolve, reject) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const about = { host: '127.0.0.1', port, method, path, headers: { ...length, ...headers }, agent: false };
        const request = httpRequest(about, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ code: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
          });
        });
        request.on('error', reject);
        request.end(body);
      }),
    raw: (bytes: string | Uint8Array, until?: RegExp) =>
      new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
        let text = '';
        const done = () => {
          socket.destroy();
          resolve(text);
        };
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1');
          if (until?.test(text)) done();
        });
        socket.on('error', done).on('close', done);
      }),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
