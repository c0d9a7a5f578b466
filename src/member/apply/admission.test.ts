// What a member's own API server does to applied objects: admission webhooks that reject or change them, and size
// limits.
import { describe, expect, test } from 'vitest';
import { widgetKind } from '../../../test/widgets.ts';
import type { Request } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import { aConfigMap, aNamespace, aRig, aWidget, type Rig } from './applier.testing.ts';

const NAME = 'web-work';
const HOUR = 3_600_000;
const ALL = 'Applied=True/AllManifestsApplied Available=True/AllManifestsAvailable';

const ordered = (rig: Rig, value = '1', spec: object = {}) =>
  rig.order(NAME, [aNamespace('shop'), aConfigMap('a', { value }), aConfigMap('b', { value: 'b' })], spec);

const dataValue = async (rig: Rig) =>
  ((await rig.find('configmaps', 'shop', 'a')) as { data?: { value?: string } } | undefined)?.data?.value;

const bodyOf = (request: Request): { readonly data?: object } | undefined =>
  request.verb === 'create'
    ? (request.object as object)
    : request.verb === 'patch'
      ? (request.patch.body as object)
      : undefined;

/** Replaces the value in every write to ConfigMap a. */
const setting =
  (value: () => string) =>
  (request: Request): Request => {
    const body = bodyOf(request);
    const name = request.verb === 'create' ? request.object.metadata.name : request.at.name;
    if (name !== 'a' || body?.data === undefined) return request;
    const changed = { ...body, data: { ...body.data, value: value() } } as never;
    if (request.verb === 'create') return { ...request, object: changed };
    return request.verb === 'patch' ? { ...request, patch: { ...request.patch, body: changed } } : request;
  };

const refusing =
  (error: ApiError) =>
  (who: string, request: Request): { readonly before: Error } | undefined => {
    const name = request.verb === 'create' ? request.object.metadata.name : request.at.name;
    return who === 'member' && bodyOf(request) !== undefined && name === 'a' ? { before: error } : undefined;
  };

const CHANGES =
  'ConfigMap "shop/a" is applied, but the member\'s API server changes /data/value (an admission webhook or policy); change the manifest accordingly, or exempt the object there';

const strategies = [
  {},
  { applyStrategy: { type: 'ServerSideApply' } },
  { applyStrategy: { comparisonOption: 'FullComparison' } },
];

describe.each(strategies)('an admission webhook that changes what is applied (%o)', (spec) => {
  test('is recognized and named, and not fought for ever', async () => {
    await using rig = await aRig();
    rig.admit = setting(() => 'theirs');
    await rig.start();
    await ordered(rig, '1', spec);
    await rig.settles();
    expect(await dataValue(rig)).toBe('theirs');
    expect(await rig.verdict(NAME)).toBe(ALL);
    expect(await rig.messageOf(NAME, 1)).toBe(CHANGES);
    expect(await rig.messageOf(NAME, 2)).toBe('');
    rig.writes.length = 0;
    await rig.pass(2 * HOUR, 60_000);
    expect(rig.writes.filter((each) => each.startsWith('hub'))).toEqual([]);
    expect(rig.writes.length).toBeLessThanOrEqual(1);
    expect(await rig.messageOf(NAME, 1)).toBe(CHANGES);

    // The next revision is applied once, and the webhook changes it again.
    rig.writes.length = 0;
    await ordered(rig, '2', spec);
    await rig.pass(HOUR, 60_000);
    expect(rig.writes.filter((each) => each.startsWith('member')).length).toBeLessThanOrEqual(2);
    expect(await rig.messageOf(NAME, 1)).toBe(CHANGES);

    // An object that already is as the webhook wants it has no message.
    await ordered(rig, 'theirs', spec);
    await rig.settles();
    expect(await rig.messageOf(NAME, 1)).toBe('');
  });
});

test('a webhook that writes something else each time is named, too, and met ever more seldom', async () => {
  await using rig = await aRig();
  let count = 0;
  rig.admit = setting(() => `theirs-${count++}`);
  await rig.start();
  await ordered(rig);
  await rig.settles();
  expect(await rig.messageOf(NAME, 1)).toBe(CHANGES);
  await rig.pass(2 * HOUR, 60_000);
  rig.writes.length = 0;
  await rig.pass(2 * HOUR, 60_000);
  expect(await rig.messageOf(NAME, 1)).toBe(CHANGES);
  expect(rig.writes.filter((each) => each.startsWith('member')).length).toBeLessThanOrEqual(12);
  expect(rig.writes.filter((each) => each.startsWith('hub'))).toEqual([]);
});

test('what a webhook makes of a Secret is named by its field, without any value', async () => {
  await using rig = await aRig();
  rig.admit = (request) => {
    const body = bodyOf(request) as { kind?: string; data?: object } | undefined;
    if (request.verb !== 'create' || body?.kind !== 'Secret') return request;
    return { ...request, object: { ...request.object, data: { password: 'dGhlaXJz' } } } as Request;
  };
  await rig.start();
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'shop' },
    data: { password: 'b3Vycw==' },
  };
  await rig.order(NAME, [aNamespace('shop'), secret]);
  await rig.settles();
  expect(await rig.messageOf(NAME, 1)).toContain('changes /data/password');
  expect(JSON.stringify((await rig.work(NAME)).status)).not.toMatch(/dGhlaXJz|b3Vycw|theirs|ours/);
});

test('an object that others have filled to the limit of etcd says so, and stays as it was', async () => {
  await using rig = await aRig();
  const withText = (container: string, letter: string, length: number) => {
    const containers = [{ name: container, image: 'i', env: [{ name: 'TEXT', value: letter.repeat(length) }] }];
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers } };
    return { spec: { selector: { matchLabels: { app: 'a' } }, template } };
  };
  await rig.member.create('namespaces', undefined, { metadata: { name: 'shop' } });
  await rig.member.create('deployments', 'shop', { metadata: { name: 'a' }, ...withText('theirs', 'x', 1_000_000) });
  await rig.start();
  const metadata = { name: 'a', namespace: 'shop' };
  const ours = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, ...withText('ours', 'y', 700_000) };
  await rig.order(NAME, [aNamespace('shop'), ours, aConfigMap('b', { value: 'b' })]);
  await rig.settles();
  expect(await rig.messageOf(NAME, 1)).toBe(
    'cannot store Deployment "shop/a" on the member: with the data that others have in it, it is larger than the API server allows (etcdserver: request is too large); make it smaller or split it',
  );
  expect((await rig.work(NAME)).status?.manifestConditions?.[1]?.cause).toEqual({ code: 'AboveServerLimit' });
  expect((await rig.find('deployments', 'shop', 'a'))?.metadata.ownerReferences).toBeUndefined();
  expect(await rig.find('configmaps', 'shop', 'b')).toBeDefined();
  await rig.patch('deployments', 'shop', 'a', withText('theirs', 'x', 1));
  await rig.pass(HOUR / 2, 60_000);
  expect((await rig.find('deployments', 'shop', 'a'))?.metadata.ownerReferences).toHaveLength(1);
});

const REFUSALS = [
  {
    it: 'a webhook that refuses',
    error: new ApiError(403, 'Forbidden', 'admission webhook "names.example.com" denied the request: not here'),
    says: 'the member refused ConfigMap "shop/a": admission webhook "names.example.com" denied the request: not here',
  },
  {
    it: 'a webhook that does not answer',
    error: new ApiError(500, 'InternalError', 'failed calling webhook "names.example.com": connection refused'),
    says: 'the member refused ConfigMap "shop/a": failed calling webhook "names.example.com": connection refused',
  },
  {
    it: 'the limit of etcd',
    error: new ApiError(500, 'InternalError', 'etcdserver: request is too large'),
    says: 'the member refused ConfigMap "shop/a": etcdserver: request is too large',
  },
  {
    it: "the API server's limit for a request",
    error: new ApiError(413, 'RequestEntityTooLarge', 'limit is 3145728'),
    says: 'cannot store ConfigMap "shop/a" on the member: with the data that others have in it, it is larger than the API server allows (limit is 3145728); make it smaller or split it',
  },
];

test.each(REFUSALS)(
  '$it stops only its object, is reported in its own words and tried again ever more seldom',
  async ({ error, says }) => {
    await using rig = await aRig();
    rig.meddle = refusing(error);
    await rig.start();
    await ordered(rig);
    await rig.settles();
    expect(await rig.messageOf(NAME, 1)).toBe(says);
    expect(await rig.find('configmaps', 'shop', 'b')).toBeDefined();
    rig.writes.length = 0;
    await rig.pass(HOUR, 30_000);
    expect(rig.writes.length).toBeLessThan(20);
    expect(rig.writes.filter((each) => each.startsWith('hub'))).toEqual([]);
    rig.meddle = undefined;
    await rig.pass(HOUR / 2, 60_000);
    expect(await rig.verdict(NAME)).toBe(ALL);
  },
);

test('an entry that another client adds to a list of a custom object is no change by the server', async () => {
  await using rig = await aRig();
  const name = { type: 'string' };
  const parts = {
    ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    items: { type: 'object', required: ['name'], properties: { name, size: { type: 'integer' } } },
  };
  const properties = { spec: { type: 'object', properties: { parts } } };
  await rig.member.create('customresourcedefinitions', undefined, widgetKind({ properties }));
  await rig.settles();
  await rig.start();
  const widget = { ...aWidget, spec: { parts: [{ name: 'a', size: 1 }] } };
  await rig.order(NAME, [aNamespace('shop'), widget], { applyStrategy: { type: 'ServerSideApply' } as never });
  await rig.settles();
  const at = rig.member.at('widgets', 'shop', 'w');
  const body = { ...aWidget, spec: { parts: [{ name: 'b', size: 2 }] } };
  await rig.member.call({ verb: 'patch', at, patch: { type: 'apply', body }, manager: 'helper' });
  await rig.settles();
  expect((await rig.find('widgets', 'shop', 'w'))?.spec).toEqual({
    parts: [
      { name: 'a', size: 1 },
      { name: 'b', size: 2 },
    ],
  });
  expect(await rig.verdict(NAME)).toContain('Applied=True/AllManifestsApplied');
  expect(await rig.messageOf(NAME, 1)).toBe('');
});
