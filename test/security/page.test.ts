// docs/security.md: each statement names a test that is there, and the few that no other test holds are held here.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editRules } from '../../src/api/rights.ts';
import { decodeObject } from '../../src/apiserver/http/body.ts';
import { createPropagation } from '../../src/hub/revisions/propagation.ts';

const ROOT = join(import.meta.dirname, '../..');
const statements = readFileSync(join(ROOT, 'docs/security.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('- '));

test('the page has statements', () => expect(statements.length).toBeGreaterThan(20));

test.each(statements)('%s', (statement) => {
  const named = [...statement.matchAll(/`((?:src|test)\/[\w/.-]+\.ts)`/g)].map(([, path]) => path as string);
  expect(named.length).toBeGreaterThan(0);
  for (const path of named) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

const roleBinding = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding' };
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };

test('RoleBindings and workloads can be placed, unless their group is skipped', () => {
  const usual = createPropagation();
  expect([roleBinding, deployment].map((kind) => usual.allowsKind(kind))).toEqual([true, true]);
  const strict = createPropagation({ skippedApis: 'rbac.authorization.k8s.io' });
  expect([roleBinding, deployment].map((kind) => strict.allowsKind(kind))).toEqual([false, true]);
});

test('the right to create placements comes with edit', () => {
  const creates = editRules.filter(({ verbs }) => verbs.includes('create')).flatMap(({ resources }) => resources);
  expect(creates).toContain('resourceplacements');
});

test('the data key __proto__ is kept, and no prototype is touched', () => {
  const text = '{"data":{"__proto__":{"x":1},"a":"1"}}';
  expect(JSON.stringify(decodeObject(Buffer.from(text), 'json', 'ConfigMap'))).toBe(text);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});
