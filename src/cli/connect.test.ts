import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findConnection } from './connect.ts';

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
