import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { authorityIn, clientIn, makeCredentials } from '../../scripts/kube/credentials.ts';
import { put, putInto, takeFrom, taken } from '../../scripts/kube/kubeconfig-file.ts';
import type { Kubeconfig } from '../../src/apiserver/auth/kubeconfig.ts';
import { parseYaml } from '../../src/base/yaml.ts';

const folder = mkdtempSync(join(tmpdir(), 'flotilla-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function planes(keys: string, ...names: readonly string[]): Kubeconfig {
  const pki = join(folder, keys);
  makeCredentials(pki);
  const each = <T>(value: (name: string) => T) => Object.fromEntries(names.map((name) => [name, value(name)]));
  return {
    clusters: each(() => ({ server: 'https://127.0.0.1:20001', caCertificate: authorityIn(pki) })),
    users: each(() => clientIn(pki, 'admin')),
    contexts: each((name) => ({ cluster: name, user: name })),
    current: names[0] ?? '',
  };
}

const FOREIGN = `apiVersion: v1
kind: Config
# mine, hands off
preferences:
  colors: true
clusters:
  - name: prod
    cluster:
      server: https://prod.example.com
users:
  - name: me
    user:
      token: 0o17 # as it is
contexts:
  - name: prod
    context:
      cluster: prod
      user: me
current-context: prod
`;

interface Entry {
  readonly name: string;
  readonly context?: object;
}
type Shown = Readonly<Record<'clusters' | 'users' | 'contexts', readonly Entry[]>> & {
  readonly 'current-context': string;
};
const shown = (text: string) => parseYaml(text) as Shown;
const names = (text: string) => {
  const { clusters, users, contexts } = shown(text);
  return [clusters, users, contexts].map((list) => list.map(({ name }) => name));
};

describe('a kubeconfig of somebody', () => {
  test('keeps all that it has when planes are put in, and is as it was when they are taken out', () => {
    const own = planes('one', 'hub', 'm1');
    const both = put(FOREIGN, own);
    expect(names(both)).toEqual(Array.from({ length: 3 }, () => expect.arrayContaining(['hub', 'm1'])));
    expect(names(both).map((list) => list.length)).toEqual([3, 3, 3]);
    expect(shown(both)['current-context']).toBe('prod');
    expect(put(both, own)).toBe(both);
    expect(taken(both, own)).toBe(FOREIGN);
  });

  test('that is empty is so again', () => {
    const empty = 'clusters: []\nusers: []\ncontexts: []\ncurrent-context: ""\n';
    expect(taken(put(empty, planes('one', 'hub')), planes('one', 'hub'))).toBe(empty);
  });

  test('loses one plane and keeps the other', () => {
    const both = put(FOREIGN, planes('one', 'hub', 'm1'));
    expect(names(taken(both, planes('one', 'm1')))).toEqual(
      Array.from({ length: 3 }, () => [expect.anything(), 'hub']),
    );
  });

  test('keeps contexts that a person added for a plane, and the namespace of its own', () => {
    const own = planes('one', 'hub');
    const added = put('', own)
      .replace('contexts:\n', 'contexts:\n  - { name: dev, context: { cluster: hub, user: hub, namespace: dev } }\n')
      .replace('user: hub\ncurrent', 'user: hub\n      namespace: shop\ncurrent');
    const again = put(added, own);
    expect(shown(again).contexts).toEqual([
      { name: 'dev', context: { cluster: 'hub', user: 'hub', namespace: 'dev' } },
      { name: 'hub', context: { cluster: 'hub', user: 'hub', namespace: 'shop' } },
    ]);
    expect(names(taken(again, own))).toEqual([[], [], ['dev']]);
  });

  test('has the keys of a plane that was made anew, and those of the new one are not taken out with the old', () => {
    const [old, fresh] = [planes('one', 'hub'), planes('two', 'hub')];
    const text = put(put(FOREIGN, old), fresh);
    expect(text).toBe(put(FOREIGN, fresh));
    expect(taken(text, old)).toBe(text);
  });

  test('whose own cluster has the name of a plane is left alone', () => {
    expect(() => put(FOREIGN, planes('one', 'prod'))).toThrow(
      'it has the cluster "prod", the context "prod" of another cluster: choose other names, or another file',
    );
    expect(taken(FOREIGN, planes('one', 'prod'))).toBe(FOREIGN);
  });

  test.each(['a: [', '- a', 'text', 'a: 1\n---\nb: 2'])('that is none is refused: %j', (text) => {
    expect(() => put(text, planes('one', 'hub'))).toThrow('it is no kubeconfig');
  });

  test('has a current context where there was none, and none when that is gone', () => {
    const own = planes('one', 'hub');
    expect(shown(put('', own))['current-context']).toBe('hub');
    expect(shown(put(FOREIGN.replace('text: prod\n', 'text: gone\n'), own))['current-context']).toBe('hub');
    expect(shown(taken(put('', own), own))['current-context']).toBe('');
  });

  test('is for its owner only, and stays where a link leads', async () => {
    const [file, link] = [join(folder, 'config'), join(folder, 'link')];
    writeFileSync(file, FOREIGN);
    symlinkSync(file, link);
    const own = planes('one', 'hub');
    await putInto(link, own);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(names(readFileSync(file, 'utf8'))[0]).toEqual(['prod', 'hub']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await takeFrom(link, own);
    expect(readFileSync(file, 'utf8')).toBe(FOREIGN);
    await takeFrom(join(folder, 'absent'), own);
  });
});
