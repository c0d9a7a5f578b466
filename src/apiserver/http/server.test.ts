import { afterEach, describe, expect, test } from 'vitest';
import { aCluster, aConfigMap, aServer, type TestServer } from './server.testing.ts';

let server: TestServer;
afterEach(() => server.close());

const CM = '/api/v1/namespaces/default/configmaps';
const JSON_HEADERS = { 'content-type': 'application/json' };

describe('a server', () => {
  test('creates, reads, lists, changes and deletes an object', async () => {
    server = await aServer();
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } });
    const created = await server.call('POST', `${CM}?fieldManager=test`, { headers: JSON_HEADERS, body });
    expect(created.code).toBe(201);
    expect(created.headers['content-type']).toBe('application/json');
    expect(created.headers['cache-control']).toBe('no-cache, private');
    expect(created.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
    const read = await server.call('GET', `${CM}/a`);
    expect(read.json).toEqual(created.json);
    expect(Number(read.headers['content-length'])).toBe(read.text.length);

    const listed = await server.call('GET', CM);
    expect(listed.json.kind).toBe('ConfigMapList');
    expect(listed.json.items).toHaveLength(1);
    expect(listed.json.items[0]).not.toHaveProperty('kind');
    expect(listed.json.metadata.resourceVersion).toBe(read.json.metadata.resourceVersion);

    const patched = await server.call('PATCH', `${CM}/a`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"data":{"k":"w"}}',
    });
    expect([patched.code, patched.json.data]).toEqual([200, { k: 'w' }]);
    const put = await server.call('PUT', `${CM}/a`, { headers: JSON_HEADERS, body });
    expect([put.code, put.json.data]).toEqual([200, { k: 'v' }]);

    const deleted = await server.call('DELETE', `${CM}/a`, { headers: JSON_HEADERS, body: '{}' });
    expect(deleted.json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: created.json.metadata.uid },
    });
    expect((await server.call('GET', `${CM}/a`)).json).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
      code: 404,
    });
  });
});
