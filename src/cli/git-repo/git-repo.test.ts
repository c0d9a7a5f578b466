// `status`, `why` and `sync` of a GitRepo against the real API server over https. No hub runs.
import { describe, expect, test } from 'vitest';
import type { GitRepo } from '../../api/git-repo.ts';
import type { KubeObject } from '../../api/object.ts';
import { wallClock } from '../../base/clock.ts';
import { printing, serving } from '../served.testing.ts';
import { showGitRepo, syncGitRepo, whichGitRepo, whyGitRepo } from './git-repo.ts';

const condition = (type: string, status: string, reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
});
const COMMIT = 'a'.repeat(40);
const POLLED = condition('GitPolling', 'True', 'Polled', 'it is');

async function stored(status: object) {
  const repo = {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'GitRepo',
    metadata: { name: 'shop', namespace: 'fleet-system' },
    spec: { repo: 'https://example.com/shop.git', forceSyncGeneration: 3, syncGeneration: 6 },
    status: { observedGeneration: 1, commit: COMMIT, ...status },
  } as KubeObject;
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fleet-system' } };
  const { server, subject } = await serving([namespace, repo]);
  const connected = await server();
  const which = whichGitRepo('gitrepo/shop');
  const { print, out } = printing();
  const options = { clock: wallClock, signal: new AbortController().signal };
  return {
    out,
    why: () => whyGitRepo(connected, which, options, print),
    show: () => showGitRepo(connected, which, options, print),
    sync: () => syncGitRepo(connected, which, print),
    repo: async () => (await subject.cluster.get('gitrepos', 'fleet-system', 'shop')) as GitRepo,
  };
}

const READY = {
  conditions: [POLLED, condition('Ready', 'True', 'Ready', 'all')],
  display: { readyBundleDeployments: '2/2', state: 'Ready' },
  bundles: [{ name: 'shop', path: '', state: 'Ready', readyClusters: '2/2' }],
};

describe('a GitRepo', () => {
  test('that is ready is shown with its bundles, and nothing holds it', async () => {
    const it = await stored(READY);
    expect(await it.show()).toBe(0);
    expect(it.out.join('\n')).toContain('Ready: 2/2 bundle deployments ready, commit aaaaaaaaaaaa');
    expect(it.out.join('\n')).toMatch(/shop +\. +2\/2 +Ready/);
    expect(await it.why()).toBe(0);
  });

  test('that is under way is shown with its counts', async () => {
    const summary = { desiredReady: 9, ready: 2, notReady: 4, pending: 0, outOfSync: 3, modified: 0 };
    const it = await stored({
      ...READY,
      conditions: [POLLED, condition('Ready', 'False', 'OutOfSync', 'm')],
      summary: { ...summary, waitApplied: 0, errApplied: 0 },
    });
    expect(await it.show()).toBe(2);
    expect(it.out.join('\n')).toContain('Not ready yet: 4 NotReady, 3 OutOfSync');
  });

  test.each([
    [
      'the repository',
      { conditions: [condition('GitPolling', 'False', 'RefNotFound', 'no branch "x"')] },
      'Blocked: no branch "x"\nGitRepo "fleet-system/shop" waits: the repository cannot be read (RefNotFound)',
    ],
    [
      'a file',
      {
        conditions: [POLLED, condition('Accepted', 'False', 'FileInvalid', 'm')],
        problems: [{ reason: 'FileInvalid', file: 'app/fleet.yaml', line: 7, message: 'Tabs' }],
      },
      'app/fleet.yaml:7: Tabs',
    ],
    [
      'a bundle',
      {
        conditions: [POLLED, condition('Ready', 'False', 'OutOfSync', 'm')],
        bundles: [{ name: 'shop-web', path: 'web', state: 'OutOfSync', readyClusters: '1/2' }],
      },
      'flotilla why placement/shop-web',
    ],
    ['an old status', { ...READY, observedGeneration: 0 }, 'has not read the repository yet'],
  ])('is held up by %s, which is named', async (_what, status, expected) => {
    const it = await stored(status);
    expect(await it.why()).toBe(2);
    expect(it.out.join('\n')).toContain(expected);
  });

  test('is read again by sync', async () => {
    const it = await stored(READY);
    await it.sync();
    expect((await it.repo()).spec).toMatchObject({ forceSyncGeneration: 3, syncGeneration: 7 });
    // The hub has not processed it yet, so nothing counts as done.
    expect(await it.show()).toBe(2);
  });

  test.each(['gitrepo/', 'gitrepo/a/b', 'gitrepo/A B', 'repo/shop'])('is not named by "%s"', (argument) => {
    expect(() => whichGitRepo(argument)).toThrow('names no GitRepo');
  });
});
