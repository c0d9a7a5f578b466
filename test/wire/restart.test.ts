// A restart, and everything as it was; crashes in the middle of writes; starts that cannot be.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { call, open } from './https.ts';
import { program, type Result, run, type Server, skipsKubectl, startServer } from './server.ts';

const root = resolve(import.meta.dirname, '../..');
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data: Readonly<Record<string, string>>) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

const temporary: string[] = [];
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'flotilla-wire-'));
  temporary.push(path);
  return path;
};
afterAll(() => {
  for (const path of temporary) rmSync(path, { recursive: true, force: true });
});

describe.skipIf(skipsKubectl)('a server that is stopped and started again', () => {
  const data = folder();
  let server: Server;
  let everything: string;
  let revision: string;

  /** All objects of all kinds, as YAML. */
  const dump = async (): Promise<string> => {
    const kinds = (await server.ok(['api-resources', '--verbs=list', '-o', 'name'])).trim().split('\n');
    return server.ok(['get', kinds.join(','), '-A', '-o', 'yaml', '--show-managed-fields']);
  };

  beforeAll(async () => {
    server = await startServer({ folder: data });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('takes the placement manifests of the seeds', async () => {
    const files = ['001/v1-1.yaml', '001/v1-2-west.yaml', '002/v2-2.yaml', '002/v2-4.yaml', '003/v3-1.yaml'];
    const applied = await server.ok(['apply', ...files.flatMap((file) => ['-f', join(root, 'test/seeds', file)])]);
    expect(applied.match(/ created$/gm)).toHaveLength(files.length);
  });

  test('shows in every form what was applied', async () => {
    for (const form of [
      'wide',
      'yaml',
      'json',
      'name',
      'jsonpath={.items[*].metadata.name}',
      'custom-columns=N:.metadata.name',
    ]) {
      expect(await server.ok(['get', 'crp', '-o', form])).toContain('example-1');
    }
    expect(await server.ok(['describe', 'crp', 'example-1'])).toContain('ClusterResourcePlacement');
  });

  test('ends with code 0 on SIGTERM, also with open watches', async () => {
    everything = await dump();
    const listed = await call(server.kubeconfig, 'GET', CONFIG_MAPS);
    revision = (listed.json!['metadata'] as { resourceVersion: string }).resourceVersion;
    const watch = await open(server.kubeconfig, `${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`);
    watch.on('error', () => {});
    watch.resume();
    const started = Date.now();
    expect(await server.stop('SIGTERM')).toBe(0);
    expect(Date.now() - started).toBeLessThan(patience(5_000));
  });

  test('has everything as it was', async () => {
    server = await startServer({ folder: data });
    expect(await dump()).toBe(everything);
  });

  test('lets watches go on from where they were, and counts on', async () => {
    const watch = await open(server.kubeconfig, `${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`);
    const created = await call(server.kubeconfig, 'POST', CONFIG_MAPS, { body: configMap('after', { a: '1' }) });
    const { resourceVersion } = created.json!['metadata'] as { resourceVersion: string };
    expect(Number(resourceVersion)).toBeGreaterThan(Number(revision));
    for await (const chunk of watch) {
      expect(JSON.parse(String(chunk))).toMatchObject({
        type: 'ADDED',
        object: { metadata: { name: 'after', resourceVersion } },
      });
      break;
    }
    watch.destroy();
  });

  test('ends with code 0 on Ctrl-C, quickly, and a second one does not wait', async () => {
    const watches = await Promise.all(
      Array.from({ length: 20 }, () => open(server.kubeconfig, `${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`)),
    );
    for (const watch of watches) watch.on('error', () => {}).resume();
    const started = Date.now();
    expect(await server.stop('SIGINT')).toBe(0);
    expect(Date.now() - started).toBeLessThan(patience(3_000));
  });
});

describe('a server that is killed while it writes', () => {
  test('has all that it acknowledged', async () => {
    const data = folder();
    const acknowledged = new Map<string, string | undefined>();
    const started = new Map<string, string>();
    for (let round = 0; round < 3; round++) {
      const server = await startServer({ folder: data });
      await check(server, acknowledged, started);
      let isDead = false;
      const write = async (writer: number) => {
        for (let count = 0; !isDead; count++) {
          const name = `r${round}-w${writer}-${count}`;
          started.set(name, 'created');
          const created = await call(server.kubeconfig, 'POST', CONFIG_MAPS, {
            body: configMap(name, { is: 'created' }),
          });
          if (created.code !== 201) throw new Error(created.text);
          acknowledged.set(name, 'created');
          if (count % 3 === 1) {
            started.set(name, 'changed');
            const patch = {
              body: '{"data":{"is":"changed"}}',
              headers: { 'content-type': 'application/merge-patch+json' },
            };
            await call(server.kubeconfig, 'PATCH', `${CONFIG_MAPS}/${name}`, patch);
            acknowledged.set(name, 'changed');
          }
          if (count % 3 === 2) {
            started.set(name, 'gone');
            await call(server.kubeconfig, 'DELETE', `${CONFIG_MAPS}/${name}`);
            acknowledged.set(name, undefined);
          }
        }
      };
      const writers = Array.from({ length: 8 }, (_, writer) => write(writer).catch(() => {}));
      const before = acknowledged.size;
      while (acknowledged.size < before + 60) await new Promise((next) => setImmediate(next));
      isDead = true;
      await server.stop('SIGKILL');
      await Promise.all(writers);
    }
    const server = await startServer({ folder: data });
    await check(server, acknowledged, started);
    await server.stop();
    expect(acknowledged.size).toBeGreaterThanOrEqual(3 * 60);
  });

  /** Whatever was acknowledged is there; what was under way may be there or not. */
  async function check(
    server: Server,
    acknowledged: ReadonlyMap<string, string | undefined>,
    started: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { json } = await call(server.kubeconfig, 'GET', CONFIG_MAPS);
    const items = json?.['items'] as readonly { metadata: { name: string }; data: { is: string } }[];
    const found = new Map(items.map((item) => [item.metadata.name, item.data.is]));
    const lost = [...acknowledged].filter(([name, value]) => {
      const now = found.get(name);
      return now !== value && started.get(name) !== (now ?? 'gone');
    });
    expect(lost).toEqual([]);
  }
});

describe('a start that cannot be', () => {
  const start = (args: readonly string[]): Promise<Result> => run(process.execPath, [program, 'apiserver', ...args]);
  const sentence = (text: RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(text) });

  test('on data that another server has open', async () => {
    await using server = await startServer();
    const second = await start(['--data-dir', join(server.folder, 'data'), '--port', '0']);
    expect(second).toMatchObject(sentence(/^error: .*data.* in use.*\n$/));
    expect((await call(server.kubeconfig, 'GET', '/readyz')).text).toBe('ok');
  });

  test('on a port that is taken', async () => {
    const taken = createServer();
    const port = await new Promise<number>((done) =>
      taken.listen(0, '127.0.0.1', () => done((taken.address() as { port: number }).port)),
    );
    const outcome = await start(['--in-memory', '--port', String(port), '--data-dir', folder()]);
    taken.close();
    expect(outcome).toMatchObject(sentence(new RegExp(`^error: port ${port} on 127.0.0.1 is in use: .*--port.*\\n$`)));
  });

  test('in a directory that is a file', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    expect(await start(['--data-dir', file, '--port', '0'])).toMatchObject(sentence(/^error: .*file.*\n$/));
  });

  test('in a directory that nobody may make', async () => {
    expect(await start(['--data-dir', '/dev/null/flotilla', '--port', '0'])).toMatchObject(
      sentence(/^error: .*\/dev\/null\/flotilla.*\n$/),
    );
  });

  test('where the kubeconfig cannot be written', async () => {
    const data = folder();
    mkdirSync(join(data, 'taken'));
    const outcome = await start(['--data-dir', join(data, 'd'), '--port', '0', '--kubeconfig', join(data, 'taken')]);
    expect(outcome).toMatchObject(sentence(/^error: .*taken.*\n$/));
  });

  test('on a log that is damaged in its middle', async () => {
    const data = folder();
    const server = await startServer({ folder: data });
    await server.stop();
    const store = join(data, 'data', 'store');
    const [biggest] = readdirSync(store)
      .map((name) => join(store, name))
      .filter((path) => statSync(path).isFile())
      .sort((a, b) => statSync(b).size - statSync(a).size);
    const bytes = readFileSync(biggest as string);
    bytes.fill(0x5a, bytes.length >> 1, (bytes.length >> 1) + 64);
    writeFileSync(biggest as string, bytes);
    const outcome = await start(['--data-dir', join(data, 'data'), '--port', '0']);
    expect(outcome).toMatchObject(sentence(/^error: .*damaged.*\n$/));
    // And it stays as it is: nothing was cut off.
    expect(readFileSync(biggest as string).equals(bytes)).toBe(true);
  });

  test.each([
    { it: 'with an unknown flag', args: ['--nonsense'], says: /^error: unknown option '--nonsense'/ },
    { it: 'with a port that is none', args: ['--port', '70000'], says: /^error: .*a port is 0 to 65535/ },
    { it: 'with more words', args: ['more'], says: /^error: too many arguments/ },
  ])('$it', async ({ args, says }) => {
    expect(await start(args)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
  });
});
