// Folders have a direction. A test, because a wrong import compiles just as well.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const source = resolve(import.meta.dirname, '../src');

/** What each folder may import besides itself. Of hub, `insight` and `cli` may import only the pure files below. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  api: ['base'],
  apiserver: ['api', 'base'],
  client: ['api', 'base'],
  runtime: ['api', 'base'],
  hub: ['runtime', 'api', 'base'],
  member: ['runtime', 'api', 'base'],
  sim: ['runtime', 'api', 'base'],
  insight: ['hub', 'api', 'base'],
  // A web page is still to come: over a connection, with what people are shown from `insight`.
  web: ['insight', 'client', 'api', 'base'],
  cli: ['insight', 'hub', 'client', 'api', 'base'],
  main: ['cli', 'insight', 'hub', 'member', 'sim', 'runtime', 'client', 'apiserver', 'api', 'base'],
};

/** Files of hub that only think: what `flotilla why` explains and `flotilla plan` forecasts with. */
const PURE =
  /^hub\/(planners\/[^/]+|strategies\/[^/]+|members\/reachable|orders\/(newest-snapshot|order|orders-for)|freezes\/(frozen|sources)|git\/(bundle-variants|fleet-dependencies|fleet-diff|fleet-fields|paths|placements|render|renderer|repository|source|sources|targets)|groups\/(sources|terms)|overrides\/(applying|in-force|matching|overriding|sources)|placement\/policy-hash|rollout\/decide|revisions\/(content|propagation|select|variants)|scheduler\/cycle|staged\/(annotations|decide|evaluate|initialise|observed)|status\/holds-summary|families|placement-sources|staged-sources)\.ts$/;

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly target: string;
}

const imports: readonly Import[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file))
  .flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8');
    const folder = (path: string) => relative(source, path).split('/')[0] as string;
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => ({
      file,
      from: folder(join(source, file)),
      to: folder(resolve(dirname(join(source, file)), match[1] as string)),
      target: relative(source, resolve(dirname(join(source, file)), match[1] as string)),
    }));
  });

describe('the folders of src', () => {
  test('are looked at: there are imports to check', () => {
    expect(imports.length).toBeGreaterThan(50);
  });

  test('import only along the arrows', () => {
    const wrong = imports.filter(({ from, to }) => from !== to && !ALLOWED[from]?.includes(to));
    expect(wrong).toEqual([]);
  });

  /** A folder and those inside it do not count. */
  test('beside each other do not import one another', () => {
    const pairs = new Set(
      imports
        .map(({ file, target }) => [dirname(file), dirname(target)] as const)
        .flatMap(([from, to]) =>
          from === to || `${from}/`.startsWith(`${to}/`) || `${to}/`.startsWith(`${from}/`)
            ? []
            : [`${from} <-> ${to}`],
        ),
    );
    const cycles = [...pairs].filter((pair) => {
      const [from = '', to = ''] = pair.split(' <-> ');
      return from < to && pairs.has(`${to} <-> ${from}`);
    });
    expect(cycles).toEqual([]);
  });

  test('do not let commands import controllers', () => {
    const read = imports
      .filter(({ from, to }) => /^(cli|insight)$/.test(from) && to === 'hub')
      .map(({ target }) => target);
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((target) => !PURE.test(target))).toEqual([]);
  });

  test('take time and randomness from outside where a simulated world must hold them', () => {
    const worldly = /^(api|apiserver|client|runtime|hub|insight|member|sim)\//;
    const forbidden =
      /\bDate\.now\(|new Date\(\)|\bMath\.random\(|\brandomUUID\(|\brandomBytes\(|\bsetTimeout\(|\bsetInterval\(/;
    const users = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file) && worldly.test(file))
      .filter((file) =>
        forbidden.test(readFileSync(join(source, file), 'utf8').replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, '')),
      );
    expect(users).toEqual([]);
  });

  test('leave environment, flags and process to main and cli', () => {
    const readers = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/^(main|cli)\//.test(file))
      .filter((file) => /process\.(env|argv|exit)\b/.test(readFileSync(join(source, file), 'utf8')));
    expect(readers).toEqual([]);
  });
});
