import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { membersFrom } from './member-servers.ts';

test('whoever has no way to a member is told why', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-members-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'config');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', interactiveMode: 'Never' };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'asks', user: { exec } }],
      contexts: [
        { name: 'member-1', context: { cluster: 'c' } },
        { name: 'member-2', context: { cluster: 'c', user: 'asks' } },
      ],
    }),
  );
  using members = membersFrom({ kubeconfig });
  expect(members.at('member-1')).toMatchObject({ call: expect.any(Function) });
  expect(members.at('member-2')).toBe('its context logs in by a program of its own');
  expect(members.at('member-4')).toBe('the kubeconfig has no context of that name');
});
