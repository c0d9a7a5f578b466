// The namespace of a command without -n.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { namespaceOf } from './context-namespace.ts';

const home = mkdtempSync(join(tmpdir(), 'flotilla-context-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const kubeconfig = join(home, 'kubeconfig');
writeFileSync(
  kubeconfig,
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [
      { name: 'team', context: { cluster: 'c', user: 'u', namespace: 'team' } },
      { name: 'bare', context: { cluster: 'c', user: 'u' } },
    ],
    'current-context': 'team',
  }),
);

describe('the namespace of', () => {
  test.each([
    { what: 'rp/web', is: 'team' },
    { what: 'ResourcePlacement/web', is: 'team' },
    { what: 'sur/r', is: 'team' },
    { what: 'rp/web', context: 'bare', is: 'default' },
    { what: 'rp/web', namespace: 'other', is: 'other' },
    { what: 'placement/web', is: undefined },
    { what: 'placement/web', namespace: 'other', is: 'other' },
    { what: 'crp/web', is: undefined },
    { what: 'run/r', is: undefined },
    { what: 'web', is: undefined },
  ])('$what in context $context with -n $namespace is $is', ({ what, context, namespace, is }) => {
    const asked = { ...(context === undefined ? {} : { context }), ...(namespace === undefined ? {} : { namespace }) };
    expect(namespaceOf(what, { kubeconfig, ...asked })).toBe(is);
  });
});
