// What the conformance tests say often.
import { expect, test } from 'vitest';
import type { KubeObject, User } from '../../src/api/object.ts';
import type { Answer, Request, Target, Transport, WatchEvent, WatchRequest } from '../../src/api/transport.ts';
import type { ApiError } from '../../src/base/errors.ts';
import { admin, type TestCluster } from '../cluster.ts';
import type { Served, SubjectOptions } from './subjects.ts';

/** Who answers: a server of ours, which is new for each test and whose time and store are at hand, or a real one, which is neither. */
export type Server = 'ours' | 'real';

/** A test of what can be asked of a server of ours alone. With a real one it stands in the report as skipped, with the reason. */
export const onlyOurs =
  (server: Server, because: string) =>
  (name: string, run: () => Promise<void>): void => {
    if (server === 'ours') test(name, run);
    else test.skip(leftOut(name, because), run);
  };

/** The rows that this server is asked; the others stand in the report in the same way. */
export function askable<Row extends { readonly it: string; readonly onlyOurs?: string }>(
  server: Server,
  rows: readonly Row[],
): readonly Row[] {
  if (server === 'ours') return rows;
  for (const { it, onlyOurs: because } of rows) if (because !== undefined) test.skip(leftOut(it, because));
  return rows.filter((row) => row.onlyOurs === undefined);
}

const leftOut = (name: string, because: string): string => `${name} (left out on a real server: ${because})`;

export interface Session<S extends Served = Served> extends AsyncDisposable {
  readonly subject: S;
  /** The inside of a server of ours. */
  ours(): TestCluster;
  /** What a server says to the letter if its time stands still and nobody else writes; of others only that they say it. */
  exactly(value: string | undefined): string;
  /** Changes with every write that a test could have made. */
  state(): Promise<unknown>;
  readonly transport: Transport;
  as(user: User): Transport;
  at(plural: string, namespace?: string, name?: string): Target;
  call(request: Request): Promise<Answer>;
  create(object: KubeObject): Promise<KubeObject>;
  /** Events of a watch, as they are wanted. */
  watch(request: WatchRequest, as?: Transport): Watching;
}

export interface Watching {
  /** The next so many events; fewer if it ends. */
  take(count: number): Promise<readonly WatchEvent[]>;
  /** Everything until it ends by itself. Rejects as it fails. */
  rest(): Promise<readonly WatchEvent[]>;
  /** Resolves when the first request for events is under way. */
  begin(): void;
  stop(): void;
}

export async function open<S extends Served>(
  start: (options?: SubjectOptions) => Promise<S>,
  options?: SubjectOptions,
): Promise<Session<S>> {
  const subject = await start(options);
  const { cluster } = subject;
  const transport = subject.as(admin);
  const watches: Watching[] = [];
  return {
    subject,
    ours() {
      if (cluster === undefined) throw new Error('this server is not one of ours');
      return cluster;
    },
    exactly: (value) => (cluster === undefined ? expect.any(String) : (value as string)),
    async state() {
      if (cluster !== undefined) return cluster.store.head;
      const answers = ['configmaps', 'deployments'].map((plural) =>
        transport.call({ verb: 'list', at: subject.at(plural), view: 'metadata' }),
      );
      return (await Promise.all(answers)).map(({ list }) =>
        list?.items.map(({ metadata }) => [metadata.uid, metadata.resourceVersion]),
      );
    },
    transport,
    as: (user) => subject.as(user),
    at: (plural, namespace, name) => subject.at(plural, namespace, name),
    call: (request) => transport.call(request),
    async create(object) {
      const at = subject.at(subject.pluralOf(object.kind), object.metadata.namespace);
      return objectOf(await transport.call({ verb: 'create', at, object, manager: 'test' }));
    },
    watch(request, as = transport) {
      const watching = watchingOf(as, request);
      watches.push(watching);
      return watching;
    },
    async [Symbol.asyncDispose]() {
      for (const watching of watches) watching.stop();
      await subject[Symbol.asyncDispose]();
    },
  };
}

export function watchingOf(transport: Transport, request: WatchRequest): Watching {
  const controller = new AbortController();
  const batches = transport.watch(request, controller.signal)[Symbol.asyncIterator]();
  const events: WatchEvent[] = [];
  let next: Promise<IteratorResult<readonly WatchEvent[]>> | undefined;
  let isOver = false;
  const more = async () => {
    next ??= batches.next();
    const { done, value } = await next;
    next = undefined;
    if (done) isOver = true;
    else {
      expect(isDeeplyFrozen(value)).toBe(true);
      expect(value.length).toBeGreaterThan(0);
      events.push(...value);
    }
  };
  return {
    async take(count) {
      while (events.length < count && !isOver) await more();
      return events.splice(0, count);
    },
    async rest() {
      while (!isOver) await more();
      return events.splice(0);
    },
    begin() {
      next ??= batches.next();
      next.catch(() => {});
    },
    stop: () => controller.abort(),
  };
}

export const objectOf = ({ object }: Answer): KubeObject => {
  if (object === undefined) throw new Error('no object in the answer');
  return object;
};

export const configMap = (name: string, data: Record<string, string> = {}, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
  data,
});

/** Puts ConfigMaps where a server of ours keeps them, at once and without asking it. A real one is asked, one by one. */
export async function store(session: Session, values: readonly KubeObject[]): Promise<void> {
  const { cluster } = session.subject;
  for (const value of values) {
    const key = `/configmaps/${value.metadata.namespace}/${value.metadata.name}`;
    if (cluster === undefined) await session.create(value);
    else cluster.store.commit({ key, expect: 'absent', value });
  }
}

export const deployment = (name: string, replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example/app:1' }] },
    },
  },
});

export const shown = (events: readonly WatchEvent[]): readonly string[] =>
  events.map(({ type, object }) => (type === 'BOOKMARK' ? type : `${type} ${object.metadata.name}`));

/** What a refused call rejects with. Fails when it is not refused. */
export async function refusal(call: Promise<unknown>): Promise<ApiError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toMatchObject({ name: 'ApiError' });
  return outcome as ApiError;
}

export function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}
