// A release goes wrong, and the commands of the built program alone stop it, explain it and undo it, in both scopes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { flotilla } from './fleet.ts';
import { type Result, type Server, startServer } from './server.ts';

const API = 'placement.kubernetes-fleet.io/v1beta1';
const PATIENCE_MS = patience(60_000);
const labels = { app: 'web' };
const web = (image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
  },
});

const scopes = [
  { it: 'ClusterResourcePlacement', prefix: 'Cluster', flags: [] },
  { it: 'ResourcePlacement', prefix: '', flags: ['-n', 'shop'] },
] as const;

describe.each(scopes)('a bad release of a $it', ({ prefix, flags }) => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-story-'));
  let server: Server | undefined;
  beforeAll(async () => {
    server = await startServer({ command: 'up', args: ['--in-memory'] });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const does = (...args: readonly string[]): Promise<Result> =>
    flotilla(home, args, { KUBECONFIG: server?.kubeconfig });
  const succeeds = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await does(...args);
    expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await does(...args);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(1);
    return stderr;
  };
  const apply = async (...items: readonly object[]) => {
    const path = join(home, 'applied.json');
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await succeeds('apply', '--context', 'hub', '-f', path);
  };
  /** Each try takes a process; it gives up sooner than the test, to say what it saw. */
  const until = async (isSo: (found: Result) => boolean, ...args: readonly string[]): Promise<Result> => {
    const deadline = Date.now() + PATIENCE_MS;
    let found = await does(...args);
    while (!isSo(found) && Date.now() < deadline) found = await does(...args);
    expect(isSo(found), `${args.join(' ')}: ${found.stdout}${found.stderr}`).toBe(true);
    return found;
  };
  const metadata = (name: string) => ({ name, ...(prefix === '' ? { namespace: 'shop' } : {}) });
  const placement = (strategy: object) => ({
    apiVersion: API,
    kind: `${prefix}ResourcePlacement`,
    metadata: metadata('web'),
    spec: {
      resourceSelectors: [
        prefix === ''
          ? { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' }
          : { group: '', version: 'v1', kind: 'Namespace', name: 'shop' },
      ],
      policy: { placementType: 'PickAll' },
      strategy,
    },
  });
  const images = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      ['member-1', 'member-2', 'member-3'].map((context) =>
        does('get', 'deployment', 'web', '-n', 'shop', '--context', context, '-o', 'json'),
      ),
    );
    return found.map(({ stdout }) => /"image": ?"(web:[^"]*)"/.exec(stdout)?.[1] ?? '-');
  };

  test(
    'is stopped, explained, undone and finished',
    async () => {
      await apply(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
        web('web:1'),
        ...(prefix === ''
          ? [
              {
                apiVersion: API,
                kind: 'ClusterResourcePlacement',
                metadata: { name: 'namespace' },
                spec: {
                  resourceSelectors: [
                    { group: '', version: 'v1', kind: 'Namespace', name: 'shop', selectionScope: 'NamespaceOnly' },
                  ],
                  policy: { placementType: 'PickAll' },
                },
              },
            ]
          : []),
        placement({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, unavailablePeriodSeconds: 1 } }),
      );
      await until(({ code }) => code === 0, 'status', 'placement/web', ...flags);
      await apply(web('web:bad'));
      const overview = await until(({ stdout }) => stdout.includes('Failing'), 'status');
      expect(overview.stdout).toContain(`Why: flotilla why placement/web${flags.length === 0 ? '' : ' -n shop'}`);
      const why = await until(({ code }) => code === 2, 'why', 'placement/web', ...flags);
      expect(why.stdout).toContain('web');
      expect((await images()).filter((image) => image === 'web:bad')).toHaveLength(1);

      expect(await refused('freeze', '-m', 'x', '--until', '2020-01-01T00:00:00Z')).toContain('is in the past');
      expect(await refused('freeze', '-m', 'x', '--placement', 'nope', ...flags)).toContain('"');
      const frozen = await succeeds('freeze', '-m', 'bad release', '--placement', 'web', ...flags);
      const name = /Freeze "([^"]+)" holds/.exec(frozen)?.[1] ?? '';
      expect(await refused('freeze', '-m', 'again', '--placement', 'web', ...flags)).toContain(
        `Freeze "${name}" covers`,
      );
      expect(await refused('rollback', 'placement/web', ...flags, '--to', '7', '--yes')).toContain('7');
      expect(await succeeds('history', 'placement/web', ...flags)).toMatch(/^1 .*\n0 /m);
      expect(await succeeds('rollback', 'placement/web', ...flags, '--yes')).toContain(`Freeze "${name}" holds it`);
      await until(({ stdout }) => stdout.includes(`frozen by Freeze "${name}"`), 'why', 'placement/web', ...flags);
      expect((await images()).filter((image) => image === 'web:bad')).toHaveLength(1);

      expect(await succeeds('unfreeze')).toContain(`Freeze "${name}" ended`);
      expect(await refused('unfreeze')).toContain('nothing is frozen');
      await succeeds('status', 'placement/web', ...flags, '--watch', '--timeout', '60s');
      expect(await images()).toEqual(['web:1', 'web:1', 'web:1']);
    },
    PATIENCE_MS * 3,
  );
});
