import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { connectionIfThere, findConnection } from './connect.ts';

const folder = mkdtempSync(join(tmpdir(), 'flotilla-connect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = (...names: readonly string[]): string => {
  const file = join(folder, names.join('-'));
  const entries = names.map((name, at) => ({ name, cluster: { server: `https://127.0.0.1:${at + 1}` } }));
  const contexts = names.map((name) => ({ name, context: { cluster: name } }));
  writeFileSync(file, JSON.stringify({ clusters: entries, contexts, 'current-context': names[0] }));
  return file;
};

describe('a command that is for the hub', () => {
  test.each([
    { it: 'takes the context hub, whichever is current', names: ['member-1', 'hub'], is: 2 },
    { it: 'takes the current one where there is no hub', names: ['prod', 'test'], is: 1 },
    { it: 'takes what is asked for', names: ['member-1', 'hub'], context: 'member-1', is: 1 },
  ])('$it', ({ names, context, is }) => {
    const asked = { kubeconfig: config(...names), usualContext: 'hub', ...(context === undefined ? {} : { context }) };
    expect(findConnection(asked).server).toBe(`https://127.0.0.1:${is}`);
  });

  test('is the only one: others take the current context', () => {
    expect(findConnection({ kubeconfig: config('member-1', 'hub') }).server).toBe('https://127.0.0.1:1');
  });
});

describe('a kubeconfig that is not there', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
  const none = join(folder, 'none');

  test('is named once, in words', () => {
    expect(() => findConnection({ kubeconfig: none })).toThrow(
      new RegExp(`^cannot read the kubeconfig ${none}: no such file$`),
    );
    expect(() => findConnection({ kubeconfig: folder })).toThrow(/: it is a folder$/);
  });

  test('and was not asked for by name comes with what can be done', () => {
    vi.stubEnv('KUBECONFIG', none);
    vi.spyOn(process, 'cwd').mockReturnValue(folder);
    expect(() => findConnection({})).toThrow(/: no such file; name the right one with --kubeconfig$/);
    mkdirSync(join(folder, '.flotilla'));
    writeFileSync(join(folder, '.flotilla', 'kubeconfig'), '{}');
    expect(() => findConnection({})).toThrow(
      /name the right one with --kubeconfig, or with `export KUBECONFIG=\$PWD\/.flotilla\/kubeconfig`$/,
    );
  });
});

describe('the way to a member', () => {
  test('is the context of its name, if there is one', () => {
    const kubeconfig = config('hub', 'eu-1');
    expect(connectionIfThere({ kubeconfig, context: 'eu-1' })?.server).toBe('https://127.0.0.1:2');
    expect(connectionIfThere({ kubeconfig, context: 'eu-2' })).toBeUndefined();
  });
});
