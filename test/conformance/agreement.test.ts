// Whatever is asked, every way to the server gives the same answer, to the last field.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Request, Target, View } from '../../src/api/transport.ts';
import { ApiError } from '../../src/base/errors.ts';
import { runs } from '../properties.ts';
import { open, type Session, watchingOf } from './script.ts';
import { direct, http1, http2 } from './subjects.ts';

type Ask = (session: Session) => Request;

const name = fc.constantFrom('a', 'b', 'c', 'Bad Name', '');
const namespace = fc.constantFrom('default', 'kube-system', 'nowhere', undefined);
const view = fc.constantFrom<View | undefined>('object', 'metadata', 'table', undefined);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const labels = maybe(fc.dictionary(fc.constantFrom('app', 'tier', 'not/a/label'), fc.constantFrom('web', 'db', '')));
const data = maybe(
  fc.dictionary(fc.constantFrom('x', 'y', 'bad/key', '__proto__'), fc.string({ unit: 'grapheme', maxLength: 8 })),
);
const metadata = fc.record({
  name,
  labels,
  finalizers: maybe(fc.constantFrom<readonly string[]>(['example.dev/hold'], ['bad'], [])),
  resourceVersion: maybe(fc.constantFrom('1', 'rubbish')),
});
const object = fc.record({
  apiVersion: fc.constantFrom('v1', 'v1', 'v1', 'apps/v1'),
  kind: fc.constantFrom('ConfigMap', 'ConfigMap', 'ConfigMap', 'Secret'),
  metadata,
  data,
  immutable: maybe(fc.boolean()),
  extra: maybe(fc.constant(1)),
});
const dryRun = fc.constantFrom({}, {}, { dryRun: true as const });
const selectors = fc.record({
  labels: maybe(fc.constantFrom('app=web', 'app in (web,db)', '!app', '=x')),
  fields: maybe(fc.constantFrom('metadata.name=a', 'metadata.name!=a', 'data.x=1')),
});
const patch = fc.oneof(
  fc.record({ type: fc.constant('merge' as const), body: fc.record({ data, metadata: maybe(fc.record({ labels })) }) }),
  fc.record({
    type: fc.constant('json' as const),
    body: fc.array(
      fc.record({
        op: fc.constantFrom('add', 'remove', 'test', 'rubbish'),
        path: fc.constantFrom('/data', '/data/x', '/nowhere/at/all'),
        value: fc.constantFrom<unknown>('1', { y: '2' }, null),
      }),
      { maxLength: 3 },
    ),
  }),
  fc.record({ type: fc.constant('strategic' as const), body: fc.record({ data }) }),
);

const clean = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const target = (session: Session, at: { namespace: string | undefined; name?: string | undefined }): Target =>
  session.at('configmaps', at.namespace, at.name);

const ask: fc.Arbitrary<Ask> = fc.oneof(
  fc.tuple(fc.constant('default'), object, dryRun).map(
    ([at, body, dry]): Ask =>
      (session) => ({
        verb: 'create',
        at: target(session, { namespace: at }),
        object: clean(body) as never,
        manager: 'm',
        ...dry,
      }),
  ),
  fc.tuple(name, object, dryRun).map(
    ([of, body, dry]): Ask =>
      (session) => ({
        verb: 'update',
        at: target(session, { namespace: 'default', name: of || undefined }),
        object: clean(body) as never,
        manager: 'm',
        ...dry,
      }),
  ),
  fc.tuple(fc.constantFrom('a', 'b', 'c'), patch, dryRun).map(
    ([of, change, dry]): Ask =>
      (session) => ({
        verb: 'patch',
        at: target(session, { namespace: 'default', name: of }),
        patch: clean(change) as never,
        manager: 'm',
        ...dry,
      }),
  ),
  fc.tuple(fc.constantFrom('a', 'b', 'c'), dryRun, fc.constantFrom({}, { uid: 'other' }, { revision: '1' })).map(
    ([of, dry, condition]): Ask =>
      (session) => ({ verb: 'delete', at: target(session, { namespace: 'default', name: of }), ...condition, ...dry }),
  ),
  fc.tuple(namespace, fc.constantFrom('a', 'b', 'kube-root-ca.crt'), view).map(
    ([where, of, shown]): Ask =>
      (session) => ({ verb: 'get', at: target(session, { namespace: where, name: of }), ...clean({ view: shown }) }),
  ),
  fc.tuple(namespace, selectors, view, maybe(fc.integer({ min: 1, max: 3 }))).map(
    ([where, by, shown, limit]): Ask =>
      (session) => ({
        verb: 'list',
        at: target(session, { namespace: where }),
        ...clean({ ...by, view: shown, limit }),
      }),
  ),
);

async function outcomes(session: Session, asks: readonly Ask[]): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const each of asks) {
    try {
      found.push(clean(await session.call(each(session))));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, reason, message, details } = error;
      found.push(clean({ code, reason, message, details }));
    }
  }
  // And all of it once more, as a watch tells it.
  const watch = watchingOf(session.transport, {
    at: session.at('configmaps'),
    revision: '0',
    bookmarks: true,
    timeoutSeconds: 1,
  });
  watch.begin();
  found.push(clean(await watch.take(4))); // One kube-root-ca.crt in each namespace.
  session.ours().clock.advance(1_000);
  found.push(clean(await watch.rest()));
  return found;
}

/** Objects that the process of the server writes itself have no field owners: docs/known-differences.md, `managed-fields`. */
const withoutOwners = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === 'managedFields' ? undefined : each)));

describe('all ways to a server', () => {
  test('agree on every answer and every refusal', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ask, { minLength: 5, maxLength: 25 }), async (asks) => {
        await using inProcess = await open(direct);
        await using overHttps = await open(http1);
        await using overHttp2 = await open(http2);
        const expected = await outcomes(inProcess, asks);
        const found = await outcomes(overHttps, asks);
        expect(withoutOwners(found)).toEqual(expected);
        expect(await outcomes(overHttp2, asks)).toEqual(found);
      }),
      { numRuns: runs(8) },
    );
  });
});
