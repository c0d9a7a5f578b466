// A hub with one member and the real applier, on a clock that the test controls.

import { aCluster, admin, type TestClock, type TestCluster, testClock } from '../../../test/cluster.ts';
import { type Switched, switched } from '../../../test/runtime/switched.ts';
import { widgetKind } from '../../../test/widgets.ts';
import { hubKinds, memberKinds } from '../../api/kinds.ts';
import { memberNamespace } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Answer, Request, Transport } from '../../api/transport.ts';
import type { Work, WorkSpec } from '../../api/work.ts';
import { ApiError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { seededRandom } from '../../base/random.ts';
import { silentLog } from '../../runtime/deps.ts';
import { type Manager, startManager } from '../../runtime/manager.ts';
import { type ApplierOptions, applierWorker } from './worker.ts';

export const CLUSTER = 'east';
export const PLACE = memberNamespace(CLUSTER);

/** A fault for a call: an error before or after it, or a delay. undefined = the call is not disturbed. */
export type Meddle = (
  who: 'hub' | 'member',
  request: Request,
) => { readonly before?: Error; readonly after?: Error; readonly hold?: Promise<void> } | undefined;

export interface Rig extends AsyncDisposable {
  readonly hub: TestCluster;
  readonly member: TestCluster;
  readonly clock: TestClock;
  /** `server verb plural[/subresource]` of writes, in the order they were made. */
  readonly writes: string[];
  readonly gets: string[];
  meddle: Meddle | undefined;
  /** An admission webhook of the member: maps each write to the one that is stored. */
  admit: ((request: Request) => Request) | undefined;
  /** Lists of the member that fail; a watch starts with a list, so it fails, too. */
  refuseLists: ((plural: string) => Error | undefined) | undefined;
  /** The agent receives no watch events of the hub until this resolves. */
  heldBack: Promise<void> | undefined;
  /** The agent's connection to the member's API server. */
  readonly link: Switched;
  start(options?: Partial<ApplierOptions>): Promise<Manager>;
  stop(): Promise<void>;
  settles(): Promise<void>;
  pass(ms: number, stepMs?: number): Promise<void>;
  order(name: string, manifests: readonly object[], spec?: Omit<WorkSpec, 'workload'>): Promise<void>;
  work(name: string): Promise<Work>;
  /** `Applied=True/AllManifestsApplied Available=…` */
  verdict(name: string): Promise<string>;
  /** The same per manifest, by `Kind namespace/name`. */
  verdicts(name: string): Promise<Readonly<Record<string, string>>>;
  messageOf(name: string, ordinal: number, type?: string): Promise<string>;
  find(plural: string, namespace: string | undefined, name: string): Promise<KubeObject | undefined>;
  patch(
    plural: string,
    namespace: string | undefined,
    name: string,
    body: object,
    subresource?: 'status',
  ): Promise<KubeObject>;
  remove(on: 'hub' | 'member', plural: string, namespace: string | undefined, name: string): Promise<void>;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function aRig(): Promise<Rig> {
  const clock = testClock();
  const hub = await aCluster({ kinds: hubKinds, clock });
  const member = await aCluster({ kinds: memberKinds, clock, seed: 2 });
  const writes: string[] = [];
  const gets: string[] = [];
  const link = switched(member.as(admin));
  let manager: Manager | undefined;

  const spied = (inner: Transport, who: 'hub' | 'member'): Transport => ({
    async call(request, signal): Promise<Answer> {
      const { resource, subresource } = request.at;
      const what = `${who} ${request.verb} ${resource.plural}${subresource === undefined ? '' : `/${subresource}`}`;
      if (request.verb === 'get') gets.push(what);
      else if (request.verb !== 'list') writes.push(what);
      const refusal = request.verb === 'list' && who === 'member' ? rig.refuseLists?.(resource.plural) : undefined;
      if (refusal !== undefined) throw refusal;
      const fate = rig.meddle?.(who, request);
      await fate?.hold;
      if (fate?.before !== undefined) throw fate.before;
      const admitted = who === 'member' ? (rig.admit?.(request) ?? request) : request;
      const answer = await inner.call(admitted, signal);
      if (fate?.after !== undefined) throw fate.after;
      return answer;
    },
    async *watch(request, signal, onOpen) {
      for await (const event of inner.watch(request, signal, onOpen)) {
        if (who === 'hub') await rig.heldBack;
        yield event;
      }
    },
  });

  await hub.create('namespaces', undefined, { metadata: { name: PLACE } });
  await hub.create('internalmemberclusters', PLACE, {
    metadata: { name: CLUSTER },
    spec: { state: 'Join', heartbeatPeriodSeconds: 60 },
  });

  const fingerprint = () => {
    const { controllers = [], sources = [] } = manager?.state() ?? {};
    return [
      hub.store.head,
      member.store.head,
      writes.length,
      gets.length,
      ...controllers.map(({ passes, waiting, running }) => `${passes}/${waiting}/${running}`),
      ...sources.map(({ lists, items, revision }) => `${lists}/${items}/${revision}`),
    ].join();
  };

  const rig: Rig = {
    hub,
    member,
    clock,
    writes,
    gets,
    meddle: undefined,
    admit: undefined,
    refuseLists: undefined,
    heldBack: undefined,
    link,
    async start(options = {}) {
      const catalogue = member.running.catalogue;
      manager = startManager(
        {
          clock,
          random: seededRandom(7),
          servers: { hub: spied(hub.as(admin), 'hub'), member: spied(link, 'member') },
          log: silentLog,
        },
        { controllers: [applierWorker({ cluster: CLUSTER, catalogue, random: seededRandom(8), ...options })] },
      );
      await rig.settles();
      return manager;
    },
    async stop() {
      await manager?.stop();
      manager = undefined;
    },
    async settles() {
      let last = '';
      for (let quiet = 0, turns = 0; quiet < 6; turns++) {
        if (turns > 5000) throw new Error('it does not settle');
        await turn();
        await hub.settled();
        await member.settled();
        const now = fingerprint();
        quiet = now === last ? quiet + 1 : 0;
        last = now;
      }
    },
    async pass(ms, stepMs = 1000) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.advance(Math.min(stepMs, ms - passed));
        await rig.settles();
      }
    },
    async order(name, manifests, spec = {}) {
      const body = { spec: { workload: { manifests }, ...spec } };
      try {
        const at = hub.at('works', PLACE, name);
        await hub.call({ verb: 'patch', at, patch: { type: 'merge', body: body as unknown as Json }, manager: 'test' });
      } catch (error) {
        if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
        await hub.create('works', PLACE, { metadata: { name }, ...body });
      }
    },
    work: async (name) => (await hub.get('works', PLACE, name)) as Work,
    async verdict(name) {
      const { status } = await rig.work(name);
      return (status?.conditions ?? []).map((each) => `${each.type}=${each.status}/${each.reason}`).join(' ');
    },
    async verdicts(name) {
      const { status } = await rig.work(name);
      return Object.fromEntries(
        (status?.manifestConditions ?? []).map(({ identifier, conditions }) => [
          `${identifier.kind ?? '?'} ${identifier.namespace === undefined ? '' : `${identifier.namespace}/`}${identifier.name ?? identifier.ordinal}`,
          (conditions ?? []).map((each) => `${each.type}=${each.status}/${each.reason}`).join(' '),
        ]),
      );
    },
    async messageOf(name, ordinal, type = 'Applied') {
      const { status } = await rig.work(name);
      const entry = status?.manifestConditions?.find(({ identifier }) => identifier.ordinal === ordinal);
      return entry?.conditions?.find((each) => each.type === type)?.message ?? '';
    },
    async find(plural, namespace, name) {
      try {
        return await member.get(plural, namespace, name);
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
        throw error;
      }
    },
    async patch(plural, namespace, name, body, subresource) {
      const at = { ...member.at(plural, namespace, name), ...(subresource === undefined ? {} : { subresource }) };
      const answer = await member.call({
        verb: 'patch',
        at,
        patch: { type: 'merge', body: body as Json },
        manager: 'somebody',
      });
      return answer.object as KubeObject;
    },
    async remove(on, plural, namespace, name) {
      const server = on === 'hub' ? hub : member;
      await server.call({ verb: 'delete', at: server.at(plural, namespace, name) });
    },
    async [Symbol.asyncDispose]() {
      await rig.stop();
      await hub[Symbol.asyncDispose]();
      await member[Symbol.asyncDispose]();
    },
  };
  return rig;
}

// ---- manifests

export const aNamespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

export const aConfigMap = (name: string, data: Record<string, string>, namespace = 'shop') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

export const aDeployment = (name: string, image: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image, resources: { requests: { cpu: '0.1' } } }] },
    },
    ...more,
  },
});

const parts = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: 'integer', default: 1 }, color: { type: 'string' } },
  },
};
export const widgets = widgetKind({
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, parts } } },
});

export const aWidget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'shop' },
  spec: { size: 1 },
};

/** A CustomResourceDefinition with two versions; the older one is served only if `served`. */
export const twoVersions = (served: boolean) => {
  const [version] = widgets.spec.versions;
  const versions = [
    { ...version, served, storage: false },
    { ...version, name: 'v2' },
  ];
  return { metadata: widgets.metadata, spec: { ...widgets.spec, versions } };
};
