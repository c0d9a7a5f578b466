// What the conformance tests say often.
import { expect } from 'vitest';
import type { KubeObject, User } from '../../src/api/object.ts';
import type { Answer, Request, Target, Transport, WatchEvent, WatchRequest } from '../../src/api/transport.ts';
import type { ApiError } from '../../src/base/errors.ts';
import { admin } from '../cluster.ts';
import type { Start, Subject, SubjectOptions } from './subjects.ts';

export interface Session extends AsyncDisposable {
  readonly subject: Subject;
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

export async function open(start: Start, options?: SubjectOptions): Promise<Session> {
  const subject = await start(options);
  const { cluster } = subject;
  const transport = subject.as(admin);
  const watches: Watching[] = [];
  return {
    subject,
    transport,
    as: (user) => subject.as(user),
    at: (plural, namespace, name) => cluster.at(plural, namespace, name),
    call: (request) => transport.call(request),
    async create(object) {
      const found = cluster.running.cluster.registry.all().find((each) => each.kind === object.kind);
      const at = cluster.at(found?.plural ?? '', object.metadata.namespace);
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

/** Puts a ConfigMap where the server keeps them, at once and without asking it. */
export function store(session: Session, value: KubeObject): void {
  const key = `/configmaps/${value.metadata.namespace}/${value.metadata.name}`;
  session.subject.cluster.store.commit({ key, expect: 'absent', value });
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
