// What a member with all its rights can make the hub keep: the reproductions of the first probe, by counts and sizes. Another member notices nothing.
import { describe, expect, test } from 'vitest';
import { memberRules } from '../../src/api/agent-rights.ts';
import { hubKinds } from '../../src/api/kinds.ts';
import { memberNamespace } from '../../src/api/names.ts';
import type { KubeObject, User } from '../../src/api/object.ts';
import { serve } from '../../src/apiserver/http/server.ts';
import { wallClock } from '../../src/base/clock.ts';
import type { ApiError } from '../../src/base/errors.ts';
import { aCluster, admin } from '../cluster.ts';

const TIME = '2026-01-01T00:00:00Z';
const RBAC = 'rbac.authorization.k8s.io';
const MAX_OBJECT = 1.5 * 1024 * 1024;

const user = (name: string): User => ({ name, groups: ['system:authenticated'] });

async function aHub(...members: readonly string[]) {
  const cluster = await aCluster({ kinds: hubKinds });
  for (const name of members) {
    const namespace = memberNamespace(name);
    await cluster.create('namespaces', undefined, { metadata: { name: namespace } });
    await cluster.create('roles', namespace, { metadata: { name: 'member' }, rules: memberRules });
    await cluster.create('rolebindings', namespace, {
      metadata: { name: 'member' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'member' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name }],
    });
    await cluster.create('internalmemberclusters', namespace, { metadata: { name }, spec: { state: 'Join' } });
  }
  await cluster.settled();
  const report = (name: string, status: object) =>
    cluster
      .as(user(name))
      .call({
        verb: 'patch',
        at: { ...cluster.at('internalmemberclusters', memberNamespace(name), name), subresource: 'status' },
        patch: { type: 'merge', body: { status } as never },
        manager: 'agent',
      })
      .then(
        () => 200,
        (error: ApiError) => error.code,
      );
  const sizeOf = async (name: string) =>
    JSON.stringify(await cluster.get('internalmemberclusters', memberNamespace(name), name)).length;
  return { cluster, report, sizeOf };
}

test('F1: 27,000 conditions are refused, and the next report is taken', async () => {
  const { report, sizeOf } = await aHub('x');
  const conditions = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      type: `T${at}`,
      status: 'True',
      reason: 'A',
      message: '',
      lastTransitionTime: TIME,
    }));
  expect(await report('x', { conditions: conditions(27_000) })).toBe(422);
  expect(await sizeOf('x')).toBeLessThan(2000);
  expect(await report('x', { conditions: conditions(10) })).toBe(200);
});

test('F2: reports that add up end at the maximum size of an object', async () => {
  const { report, sizeOf } = await aHub('x', 'y');
  const codes: number[] = [];
  for (let at = 0; at < 200; at++) {
    codes.push(await report('x', { properties: { [`g${at}`]: { value: 'x'.repeat(16_384), observationTime: TIME } } }));
  }
  expect(new Set(codes)).toEqual(new Set([200, 500]));
  expect(codes.lastIndexOf(200)).toBeLessThan(codes.indexOf(500));
  expect(await sizeOf('x')).toBeLessThanOrEqual(MAX_OBJECT);
  expect(await report('y', { properties: { g: { value: '1', observationTime: TIME } } })).toBe(200);
});

test('F3: a flood of Events leaves at most 16 MiB, and takes none from another namespace', async () => {
  const { cluster } = await aHub('x', 'y');
  const emit = (name: string, id: string, text: string) => {
    const namespace = memberNamespace(name);
    const object = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: id, namespace },
      involvedObject: { kind: 'Work', namespace, name: 'w' },
      related: { kind: text },
    } as KubeObject;
    return cluster
      .as(user(name))
      .call({ verb: 'create', at: cluster.at('events', namespace), object, manager: 'agent' })
      .then(
        () => 201,
        (error: ApiError) => error.code,
      );
  };
  expect(await emit('y', 'quiet', '')).toBe(201);
  expect(await emit('x', 'huge', 'x'.repeat(2_900_000))).toBe(500);
  for (let at = 0; at < 40; at++) {
    expect(await emit('x', `e${at}`, 'x'.repeat(1_000_000))).toBe(201);
    await cluster.settled();
  }
  const kept = cluster.store.range(`/events/${memberNamespace('x')}/`).items;
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.reduce((sum, stored) => sum + stored.bytes().length, 0)).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(cluster.store.range(`/events/${memberNamespace('y')}/`).items).toHaveLength(1);
});

describe('F9: one large body costs in proportion to its size:', () => {
  const SMALL = 20_000;
  const LARGE = 10 * SMALL;
  /** A step that is quadratic in the size would make it a hundred. */
  const MAX_RATIO = 40;
  const MAX_ROUNDS = 4;
  const placement = (more: string) =>
    `{"apiVersion":"placement.kubernetes-fleet.io/v1beta1","kind":"ResourcePlacement","metadata":{"name":"it"},"spec":{"resourceSelectors":[]}${more}}`;
  const deployment = (more: string) => `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"it"}${more}}`;
  const times = (count: number, member: (at: number) => string) => Array.from({ length: count }, (_, at) => member(at));
  const unknown = (count: number) => `,${times(count, (at) => `"f${at}":1`).join()}`;
  const nested = (count: number) => `,"spec":{${times(count, (at) => `"f${at}":1`).join()}}`;
  const repeated = (count: number) => `,"x":{${times(count, () => '"a":1').join()}}`;
  const both = (count: number) => `${times(count / 4, (at) => `,"g${at}":1,"g${at}":2`).join('')}${unknown(count / 2)}`;
  const placements = '/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/default/resourceplacements';
  const deployments = '/apis/apps/v1/namespaces/default/deployments';

  test.each([
    { it: 'unknown fields of a custom resource', path: placements, mode: 'Warn', body: placement, more: unknown },
    { it: 'unknown fields of a built-in kind', path: deployments, mode: 'Strict', body: deployment, more: unknown },
    { it: 'unknown fields in a field', path: deployments, mode: 'Warn', body: deployment, more: nested },
    { it: 'repeated keys', path: deployments, mode: 'Strict', body: deployment, more: repeated },
    { it: 'fields that are unknown and repeated', path: deployments, mode: 'Warn', body: deployment, more: both },
  ])('$it', async ({ path, mode, body, more }) => {
    await using cluster = await aCluster({ kinds: hubKinds });
    await using server = await serve({
      clusters: () => cluster.running.http,
      host: '127.0.0.1',
      port: 0,
      plainHttp: { user: admin },
      clock: wallClock,
    });
    const url = `http://127.0.0.1:${server.port}${path}?fieldValidation=${mode}&dryRun=All`;
    const took = async (text: string) => {
      const begin = performance.now();
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: text });
      const size = (await answer.arrayBuffer()).byteLength + (answer.headers.get('warning') ?? '').length;
      const ms = performance.now() - begin;
      expect([201, 400, 422]).toContain(answer.status);
      expect(size).toBeLessThan(5 * text.length);
      return ms;
    };
    const [small, large] = [body(more(SMALL)), body(more(LARGE))];
    // Whatever else the machine does makes a ratio of times larger or smaller, but not all of them: what is quadratic
    // exceeds the bound every time.
    const ratios: number[] = [];
    for (let round = 0; round < MAX_ROUNDS && !ratios.some((ratio) => ratio < MAX_RATIO); round++) {
      const before = await took(small);
      const between = await took(large);
      ratios.push(between / Math.max(before, await took(small)));
    }
    expect(Math.min(...ratios)).toBeLessThan(MAX_RATIO);
  });
});
