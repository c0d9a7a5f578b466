// Every manifest and command of the seeds with real kubectl: accepted or refused as test/seeds says, and read back without loss in every
// version that is served.
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hubKinds } from '../../src/api/kinds.ts';
import { groupVersionOf, type KubeObject } from '../../src/api/object.ts';
import { parseYamlDocuments } from '../../src/base/yaml.ts';
import { commands, manifests, type SeedManifest } from '../seeds/index.ts';
import { call } from './https.ts';
import { kubectlPath, type Result, run, type Server, skipsKubectl, startServer } from './server.ts';

const folder = fileURLToPath(new URL('../seeds/', import.meta.url));
const documentsOf = (file: string) =>
  parseYamlDocuments(readFileSync(join(folder, file), 'utf8')) as readonly KubeObject[];
const kindOf = (object: KubeObject) =>
  hubKinds.find((kind) => kind.kind === object.kind && kind.group === groupVersionOf(object.apiVersion).group);

/** A ConfigMap is the only kind of Kubernetes itself in the seeds. */
const servedAs = (object: KubeObject) => {
  const kind = kindOf(object);
  const versions = kind?.versions.map((each) => each.version) ?? ['v1'];
  const resource = (version = versions[0]) => (kind ? `${kind.plural}.${version}.${kind.group}` : 'configmaps');
  return { plural: kind?.plural ?? 'configmaps', group: kind?.group ?? '', versions, resource };
};

describe.skipIf(skipsKubectl)('the seeds', () => {
  let server: Server;
  const shell = mkdtempSync(join(tmpdir(), 'flotilla-shell-'));

  const file = (name: string) => ['-f', join(folder, name)];
  const inShell = (command: string): Promise<Result> =>
    run('/bin/sh', ['-c', command], {
      env: {
        PATH: `${shell}:${process.env['PATH']}`,
        HOME: mkdtempSync(join(shell, 'home-')),
        KUBECONFIG: server.kubeconfig,
      },
    });

  beforeAll(async () => {
    server = await startServer();
    symlinkSync(kubectlPath as string, join(shell, 'kubectl'));
    const namespaces = new Set(['test-namespace', ...manifests.flatMap((manifest) => manifest.namespaces ?? [])]);
    for (const namespace of namespaces) await server.ok(['create', 'namespace', namespace]);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(shell, { recursive: true, force: true });
  });

  const urlOf = (object: KubeObject, version = groupVersionOf(object.apiVersion).version) => {
    const { plural, group } = servedAs(object);
    const namespace = object.metadata.namespace ? `/namespaces/${object.metadata.namespace}` : '';
    return `${group === '' ? '/api/v1' : `/apis/${group}/${version}`}${namespace}/${plural}`;
  };

  /** Finalizers of the samples would keep them. */
  const cleanUp = async (name: string) => {
    for (const object of documentsOf(name)) {
      const path = `${urlOf(object)}/${object.metadata.name}`;
      const headers = { 'content-type': 'application/merge-patch+json' };
      await call(server.kubeconfig, 'PATCH', path, { body: '{"metadata":{"finalizers":null}}', headers });
      await call(server.kubeconfig, 'DELETE', path);
    }
  };

  const post = (object: KubeObject, query = '') =>
    call(server.kubeconfig, 'POST', `${urlOf(object)}${query}`, { body: JSON.stringify(object) });

  /** A placement that cannot work is stored with a warning. */
  const NOTHING_BUT_OUR_WARNINGS = /^(?:Warning: \S+ OriginalResource needs a policy [^\n]+\n)*$/;

  describe('each manifest', () => {
    const rows = manifests.map((manifest) => ({ manifest, it: `${manifest.id} ${manifest.file}` }));

    test.each(rows.filter(({ manifest }) => manifest.expect === 'accepted'))(
      'is accepted: $it',
      async ({ manifest }) => {
        const objects = documentsOf(manifest.file);
        try {
          if (manifest.after) await server.ok(['apply', ...file(manifest.after)]);
          const first = listed(await server.ok(['apply', '-o', 'json', ...file(manifest.file)]));
          expect(first).toHaveLength(objects.length);
          for (const [index, object] of objects.entries()) expectWhole(object, first[index] as KubeObject);
          if (objects.some(({ metadata }) => metadata.ownerReferences)) {
            // Their owners are in no cluster of ours, so they go as they would on any.
            const names = objects.map((object) => `${servedAs(object).resource()}/${object.metadata.name}`);
            const namespace = objects[0]?.metadata.namespace ?? 'default';
            await server.ok(['wait', ...names, '-n', namespace, '--for=delete', '--timeout=20s']);
            return;
          }
          const before = await Promise.all(objects.map(readBack));
          const again = await server.kubectl(['apply', ...file(manifest.file)]);
          if (objects.some(({ metadata }) => metadata.uid)) {
            // Whoever names an old revision is told that first.
            const isStale = objects.some(({ metadata }) => metadata.resourceVersion);
            const why = isStale ? 'the object has been modified' : 'metadata.uid: Invalid value';
            expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
          } else expect(again).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTHING_BUT_OUR_WARNINGS) });
          // kubectl says "configured" where defaults fill in what a list leaves out; nothing has changed all the same.
          expect(await Promise.all(objects.map(readBack))).toEqual(before);
        } finally {
          await cleanUp(manifest.file);
        }
      },
    );

    test.each(rows.filter(({ manifest }) => manifest.expect !== 'accepted'))(
      'is refused: $it',
      async ({ manifest }) => {
        const { refused } = manifest.expect as Exclude<SeedManifest['expect'], 'accepted'>;
        if (manifest.after) await server.ok(['apply', ...file(manifest.after)]);
        const result = await server.kubectl(['apply', ...file(manifest.file)]);
        expect(result.code).toBe(1);
        expect(result.stderr).toContain(refused);
        await cleanUp(manifest.after ?? manifest.file);
      },
    );

    test.each(rows.filter(({ manifest }) => manifest.expect === 'accepted' && !manifest.after))(
      'gets the right answer to a bare POST: $it',
      async ({ manifest }) => {
        for (const object of documentsOf(manifest.file)) {
          const reply = await post(object, '?dryRun=All&fieldValidation=Strict');
          if (manifest.post) {
            expect(reply).toMatchObject({
              code: manifest.post.code,
              json: { message: manifest.post.message, kind: 'Status' },
            });
            const { resourceVersion: _left, ...metadata } = object.metadata;
            expect(await post({ ...object, metadata }, '?dryRun=All')).toMatchObject({ code: 201 });
          } else expect(reply).toMatchObject({ code: 201, json: { kind: object.kind } });
        }
      },
    );
  });

  const listed = (text: string): readonly KubeObject[] => {
    const value = JSON.parse(text) as KubeObject & { items?: readonly KubeObject[] };
    return value.items ?? [value];
  };

  /** All that the manifest says is there; what the server decides is not taken from it. */
  function expectWhole(object: KubeObject, found: KubeObject): void {
    const { apiVersion: _version, kind, metadata, status: _status, ...content } = object;
    expect(found).toMatchObject({ kind, ...content });
    expect(found.metadata.labels ?? {}).toMatchObject(metadata.labels ?? {});
    expect(found.metadata.annotations ?? {}).toMatchObject(metadata.annotations ?? {});
    expect(found.metadata.finalizers ?? []).toEqual(metadata.finalizers ?? []);
    if (metadata.uid !== undefined) expect(found.metadata.uid).not.toBe(metadata.uid);
  }

  /** The same in every version. Returns the revision. */
  async function readBack(object: KubeObject): Promise<string | undefined> {
    const { group, versions, resource } = servedAs(object);
    const names = versions.map((version) => `${resource(version)}/${object.metadata.name}`);
    const namespace = object.metadata.namespace ?? 'default';
    const seen = listed(await server.ok(['get', ...names, '-n', namespace, '-o', 'json']));
    for (const [index, found] of seen.entries()) {
      expect(found.apiVersion).toBe(group === '' ? 'v1' : `${group}/${versions[index]}`);
      expectWhole(object, found);
      expect({ ...found, apiVersion: '' }).toEqual({ ...seen[0], apiVersion: '' });
    }
    return seen[0]?.metadata.resourceVersion;
  }

  describe('V3-7 in other versions', () => {
    test('an override of v1alpha1 without a scope has the scope Cluster in v1beta1', async () => {
      await server.ok(['apply', ...file('003/v3-7.yaml')]);
      const resource = 'clusterresourceoverrides.v1beta1.placement.kubernetes-fleet.io/example-cro';
      expect(await server.ok(['get', resource, '-o', 'jsonpath={.spec.placement.scope}'])).toBe('Cluster');
      await cleanUp('003/v3-7.yaml');
    });
  });

  describe('the commands', () => {
    const commandsOf = (id: string) => commands.filter((each) => each.id === id).map((each) => each.command);
    const only = (id: string): string => {
      const [command, second] = commandsOf(id);
      if (command === undefined || second !== undefined) throw new Error(`${id} is not one command`);
      return command;
    };
    const request = (name: string, namespace?: string) => ({
      apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
      kind: namespace ? 'ApprovalRequest' : 'ClusterApprovalRequest',
      metadata: { name, ...(namespace ? { namespace } : {}) },
      spec: { parentStageRollout: 'example-run', targetStage: 'canary' },
    });
    const approved = async (resource: string, ...rest: readonly string[]) => {
      const path = 'jsonpath={.status.conditions[?(@.type=="Approved")].status} {.metadata.generation}';
      return server.ok(['get', resource, ...rest, '-o', path]);
    };

    test.each([
      { id: 'V2-8', name: 'example-run-before-canary' },
      { id: 'V2-9', name: 'example-run-after-canary' },
      { id: 'V3-16', name: 'example-run-canary' },
    ])('$id approves by a merge patch of the status', async ({ id, name }) => {
      expect(await inShell(only(id))).toMatchObject({ code: 1, stderr: expect.stringContaining('(NotFound)') });
      await server.ok(['create', '-f', '-'], JSON.stringify(request(name)));
      expect(await inShell(only(id))).toMatchObject({
        code: 0,
        stdout: `clusterapprovalrequest.placement.kubernetes-fleet.io/${name} patched\n`,
      });
      expect(await approved('careq', name)).toBe('True 1');
    });

    test('V2-10 approves in a namespace', async () => {
      await server.ok(['create', '-f', '-'], JSON.stringify(request('example-run-before-canary', 'test-namespace')));
      expect((await inShell(only('V2-10'))).stderr).toBe('');
      expect(await approved('areq', 'example-run-before-canary', '-n', 'test-namespace')).toBe('True 1');
    });

    test('V2-11 to V2-14: a run starts, stops, goes on, is described, and refuses every other move', async () => {
      await server.ok(['apply', ...file('002/v2-6.yaml')]);
      expect(await inShell(only('V2-11'))).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('patched (no change)'),
      });
      for (const [command, state] of [
        [commandsOf('V2-12')[0], 'Stop'],
        [commandsOf('V2-12')[1], 'Run'],
      ]) {
        expect(await inShell(command as string)).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/ patched\n$/),
        });
        expect(await server.ok(['get', 'csur', 'example-run', '-o', 'jsonpath={.spec.state}'])).toBe(state);
      }
      for (const command of commandsOf('V2-13')) {
        const { code, stdout } = await inShell(command);
        expect(code).toBe(0);
        expect(stdout).toMatch(/^Name: +example-run$/m);
        expect(stdout).toMatch(/^Kind: +ClusterStagedUpdateRun$/m);
        expect(stdout).toMatch(/Staged Rollout Strategy Name: +example-strategy/);
      }
      const patch = (spec: object) =>
        server.kubectl(['patch', 'csur', 'example-run', '--type=merge', '-p', JSON.stringify({ spec })]);
      const refused = { code: 1, stderr: expect.stringContaining('is invalid') };
      expect(await patch({ state: 'Initialize' })).toMatchObject(refused);
      expect(await patch({ placementName: 'other' })).toMatchObject(refused);
      expect(await patch({ resourceSnapshotIndex: '1' })).toMatchObject(refused);
      expect(await patch({ stagedRolloutStrategyName: 'other' })).toMatchObject(refused);
      expect(await patch({ state: 'Fly' })).toMatchObject(refused);
      expect(await patch({ state: 'Stop' })).toMatchObject({ code: 0 });
      expect(await patch({ state: 'Initialize' })).toMatchObject(refused);
      await cleanUp('002/v2-6.yaml');
      await server.ok(['apply', ...file('003/v3-17.yaml')]);
      expect(await server.ok(['get', 'csur', 'example-run', '-o', 'jsonpath={.spec.state}'])).toBe('Initialize');
      expect(await patch({ state: 'Stop' })).toMatchObject(refused);
      await cleanUp('003/v3-17.yaml');
    });

    test('V2-16 describes a run of a namespace by its singular and its short name', async () => {
      await server.ok(['apply', ...file('002/v2-15.yaml')]);
      for (const command of commandsOf('V2-16')) {
        const { code, stdout } = await inShell(command);
        expect(code).toBe(0);
        expect(stdout).toMatch(/^Namespace: +my-app-namespace$/m);
      }
      await cleanUp('002/v2-15.yaml');
    });

    test('V3-10 reads a ConfigMap', async () => {
      await server.ok(['apply', ...file('003/v3-8-configmap-without-version.yaml')]);
      expect(await inShell(only('V3-10'))).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('name: app-config-1'),
      });
      await cleanUp('003/v3-8-configmap-without-version.yaml');
    });

    test('V3-18 names two runs, of which there is one', async () => {
      await server.ok(['apply', ...file('003/v3-17.yaml')]);
      const { code, stdout, stderr } = await inShell(only('V3-18'));
      expect(code).toBe(1);
      expect(stdout).toMatch(/^Name: +example-run$/m);
      expect(stderr).toContain('clusterstagedupdateruns.placement.kubernetes-fleet.io "run" not found');
    });

    test('V3-19 describes run and placement', async () => {
      await server.ok(['apply', ...file('003/v3-13.yaml')]);
      for (const command of commandsOf('V3-19')) expect(await inShell(command)).toMatchObject({ code: 0 });
    });

    test('there is a test for each', () => {
      const tested = ['V2-8', 'V2-9', 'V2-10', 'V2-11', 'V2-12', 'V2-13', 'V2-16', 'V3-10', 'V3-16', 'V3-18', 'V3-19'];
      expect(new Set(commands.map((each) => each.id))).toEqual(new Set(tested));
    });
  });

  test('a strategy may have 31 stages, not 32', async () => {
    const strategy = (stages: number) =>
      JSON.stringify({
        apiVersion: 'placement.kubernetes-fleet.io/v1',
        kind: 'ClusterStagedUpdateStrategy',
        metadata: { name: `stages-${stages}` },
        spec: { stages: Array.from({ length: stages }, (_, index) => ({ name: `s${index}` })) },
      });
    expect(await server.kubectl(['create', '-f', '-'], strategy(31))).toMatchObject({ code: 0 });
    expect(await server.kubectl(['create', '-f', '-'], strategy(32))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/spec\.stages: Too many: 32: must have at most 31 items/),
    });
  });
});
