import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { nameFault, parsePath, pathCache, verbOf } from './request-info.ts';

const resource = (path: string) => parsePath(path).resource;

describe('a path', () => {
  test.each([
    { path: '/api/v1/pods', group: '', version: 'v1', plural: 'pods', namespace: '' },
    { path: '/api/v1/namespaces/a/pods', group: '', version: 'v1', plural: 'pods', namespace: 'a' },
    { path: '/api/v1/namespaces/a/pods/', group: '', version: 'v1', plural: 'pods', namespace: 'a' },
    { path: '/api/v1/namespaces/a/pods/b', plural: 'pods', namespace: 'a', name: 'b' },
    { path: '/api/v1/namespaces/a/pods/b/status', plural: 'pods', name: 'b', subresource: 'status' },
    { path: '/api/v1/namespaces', plural: 'namespaces', namespace: '' },
    { path: '/api/v1/namespaces/a', plural: 'namespaces', namespace: 'a', name: 'a' },
    { path: '/api/v1/namespaces/a/status', plural: 'namespaces', name: 'a', subresource: 'status' },
    { path: '/api/v1/namespaces/a/finalize', plural: 'namespaces', name: 'a', subresource: 'finalize' },
    { path: '/apis/apps/v1/deployments', group: 'apps', version: 'v1', plural: 'deployments', namespace: '' },
    { path: '/apis/g.dev/v1/things/x', group: 'g.dev', plural: 'things', name: 'x', namespace: '' },
    { path: '/api/v1/watch/namespaces/a/pods', plural: 'pods', namespace: 'a', isWatch: true },
    { path: '/api/v1/watch/pods', plural: 'pods', namespace: '', isWatch: true },
    { path: '/api/v1/namespaces/a/pods/b/proxy/x/y', subresource: 'proxy', hasRest: true },
    { path: '/api/v1/nodes/caf%C3%A9', plural: 'nodes', name: 'café' },
  ])('$path points at a resource', ({ path, ...expected }) => {
    expect(resource(path)).toMatchObject(expected);
  });

  test.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/healthz',
    '/API/v1/pods',
    '//api/v1/pods',
    '/api//pods',
    '/api/v1//pods',
    '/apis//v1/pods',
    '/api/v1/namespaces/a%2Fb/pods',
    '/api/v1/namespaces/a/pods/b%2Fc',
    '/api/v1/namespaces/a/pods/b%00c',
    '/api/v1/namespaces//pods',
  ])('%s is no resource', (path) => {
    expect(resource(path)).toBeUndefined();
  });

  test('may begin with the name of a cluster', () => {
    expect(parsePath('/clusters/m1/api/v1/pods')).toMatchObject({ cluster: 'm1', path: '/api/v1/pods' });
    expect(parsePath('/clusters/m1')).toMatchObject({ cluster: 'm1', path: '/' });
    expect(parsePath('/clusters/m1/')).toMatchObject({ cluster: 'm1', path: '/' });
    expect(parsePath('/clusters')).toMatchObject({ cluster: '', path: '/clusters', resource: undefined });
  });

  test('that cannot be decoded is a 400', () => {
    for (const path of ['/api/v1/%zz', '/api/v1/pods/%', '/%E0%A4', 'http://host/api', '*', '']) {
      expect(() => parsePath(path), path).toThrow(ApiError);
    }
  });

  test('of any text gives names that cannot reach into another key', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', '/', '%2F', '%2f', '..', '.', '%00', '%', 'é', '%C3%A9', '//'),
    });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        let parsed: ReturnType<typeof parsePath>;
        try {
          parsed = parsePath(`/api/v1/${words.join('/')}`);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          return;
        }
        const { namespace = '', name = 'x', plural = 'x' } = parsed.resource ?? {};
        for (const each of [namespace, name, plural]) expect(each).not.toMatch(/[/\0]/);
        expect(name).not.toBe('');
      }),
    );
  });

  test('is remembered, within bounds', () => {
    const parse = pathCache(2, 10);
    expect(parse('/api/v1')).toBe(parse('/api/v1'));
    expect(parse('/api/v1/pods')).not.toBe(parse('/api/v1/pods'));
    const first = parse('/a');
    parse('/b');
    parse('/c');
    expect(parse('/a')).not.toBe(first);
  });
});

describe('the verb', () => {
  const one = { name: 'x', isWatch: false };
  const many = { name: undefined, isWatch: false };
  test.each([
    { method: 'GET', at: one, watch: false, verb: 'get' },
    { method: 'GET', at: one, watch: true, verb: 'get' },
    { method: 'GET', at: many, watch: false, verb: 'list' },
    { method: 'GET', at: many, watch: true, verb: 'watch' },
    { method: 'GET', at: { name: 'x', isWatch: true }, watch: false, verb: 'watch' },
    { method: 'POST', at: many, watch: false, verb: 'create' },
    { method: 'PUT', at: one, watch: false, verb: 'update' },
    { method: 'PATCH', at: one, watch: false, verb: 'patch' },
    { method: 'DELETE', at: one, watch: false, verb: 'delete' },
    { method: 'DELETE', at: many, watch: false, verb: 'deletecollection' },
    { method: 'OPTIONS', at: many, watch: false, verb: undefined },
  ])('of $method is $verb (watch: $watch)', ({ method, at, watch, verb }) => {
    const path = {
      group: '',
      version: 'v1',
      plural: 'pods',
      namespace: '',
      subresource: undefined,
      hasRest: false,
      ...at,
    };
    expect(verbOf(method, path, watch)).toBe(verb);
  });
});

test('names that are no names are refused as a real server does', () => {
  expect(nameFault('..')).toBe(`Name parameter invalid: "..": may not be '..'`);
  expect(nameFault('a%b')).toBe(`Name parameter invalid: "a%b": may not contain '%'`);
  expect(nameFault('a.b-c:d')).toBeUndefined();
});
