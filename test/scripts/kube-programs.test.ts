import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cachedPath, findProgram, findPrograms, missingPrograms } from '../../scripts/kube/programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'flotilla-programs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const assets = join(folder, 'assets');
const env = { XDG_CACHE_HOME: join(folder, 'cache'), KUBEBUILDER_ASSETS: assets };

test('programs come from KUBEBUILDER_ASSETS, else from the cache, where each version has a name of its own', () => {
  expect(missingPrograms(env)).toEqual(['kubectl', 'etcd', 'kube-controller-manager', 'kube-apiserver']);
  expect(findPrograms(env)).toBeUndefined();
  mkdirSync(assets);
  for (const name of ['etcd', 'kubectl', 'kube-apiserver']) writeFileSync(join(assets, name), '');
  expect(missingPrograms(env)).toEqual(['kube-controller-manager']);
  expect(cachedPath('etcd', env)).toMatch(/cache\/flotilla\/etcd-3\.\d+\.\d+$/);
  mkdirSync(join(folder, 'cache/flotilla'), { recursive: true });
  writeFileSync(cachedPath('kube-controller-manager', env), '');
  writeFileSync(cachedPath('etcd', env), '');
  expect(findProgram('etcd', env)).toBe(join(assets, 'etcd'));
  expect(findProgram('etcd', { XDG_CACHE_HOME: env.XDG_CACHE_HOME })).toBe(cachedPath('etcd', env));
  // No helm: a control plane has none.
  expect(Object.keys(findPrograms(env) ?? {})).toHaveLength(4);
  expect(findProgram('helm', env)).toBeUndefined();
});
