// What a controller remembers of a key is declared as its memory: the runtime creates it and drops it with the key. A map in the closure of a
// controller, or of something that it creates, would be neither typed by key nor dropped, and `state()` would not show it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** A function that returns a controller or a worker: what stands at its top level lives as long as the program. */
const CONTROLLER = /^export (?:function|const) \w+[\s\S]*?\): (?:Controller|Worker)<?[\s\S]*?\{\n([\s\S]*?)^\}/gm;
const COLLECTION = /^ {2}(?:const|let) (\w+)(?:: [^=]+)? = new (?:Map|Set|WeakMap|WeakSet)\b.*$/gm;

/** Puts the parts of a hub together, and creates what several controllers share. */
const PARTS = 'src/main/parts.ts';

/** Collections of what controllers create, each with the reason why it is not the memory of a key. */
const SHARED: Readonly<Record<string, string>> = {
  'src/hub/eviction/metrics.ts evictionMetrics known': 'series of a metric, by placement',
  'src/hub/git/following.ts createFollowing followers':
    'a fetch that ends between two reconciles finds the GitRepos that it concerns; forget() drops them with the key',
  'src/hub/git/following.ts createFollowing polls':
    'one poll per URL, ref and credentials for all GitRepos that name them, dropped with the last of these',
  'src/hub/membership/metrics.ts memberMetrics joined': 'series of a metric, by member',
  'src/hub/placement/metrics.ts placementMetrics known': 'series of a metric, by placement',
  'src/hub/revisions/propagation.ts createPropagation namespaces': 'a setting, which never changes',
  'src/hub/revisions/rendered.ts createRendered known':
    'bundles that GitRepos bring and placements read; keepOnly() drops those of a GitRepo',
  'src/hub/revisions/rendered.ts createRendered listeners': 'the controllers of placements, one per scope',
  'src/hub/revisions/watch-plan.ts createWatchPlan plans':
    'one plan per kind for all placements and runs that select it; forget() drops a reader with its key',
  'src/hub/staged/metrics.ts runMetrics known': 'series of a metric, by run',
  'src/hub/staged/metrics.ts runMetrics taskTypes': 'labels of a metric, by run',
  'src/member/apply/member-view.ts collections made': 'one source per kind, so that all Works share its watch',
};

const kept = (text: string): readonly string[] =>
  [...text.matchAll(CONTROLLER)].flatMap(([, body = '']) =>
    [...body.matchAll(COLLECTION)].map(([line]) => line.trim()),
  );

const texts = ['hub', 'member']
  .flatMap((folder) =>
    readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?:^|\/)(?:controller|worker)\.ts$/.test(file))
      .map((file) => `src/${folder}/${file}`),
  )
  .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);

/** Functions that a controller calls once, when it is created: in its parameters and at its top level. */
const createdBy = (text: string): readonly string[] =>
  [...text.matchAll(CONTROLLER)].flatMap(([all, body = '']) => [
    ...called(all.slice(0, all.indexOf('{\n'))),
    ...called((body.match(/^ {2}(?:const|let) .*$/gm) ?? []).join('\n')),
  ]);

const called = (text: string): readonly string[] => [...text.matchAll(/\b(\w+)\(/g)].map(([, name = '']) => name);

/** `file function variable` of each collection that a function of this name keeps, wherever the file imports it from. */
function keptBy(file: string, text: string, name: string): readonly string[] {
  const imported = [...text.matchAll(/^import \{([^}]*)\} from '(\.[^']+)';/gm)].find(([, names = '']) =>
    names.split(',').some((each) => each.trim() === name),
  );
  if (imported === undefined) return [];
  const from = relative(root, join(root, dirname(file), imported[2] ?? ''));
  if (!/^src\/(hub|member)\//.test(from)) return [];
  const declared = new RegExp(`^export function ${name}\\([\\s\\S]*?\\{\\n([\\s\\S]*?)^\\}`, 'm');
  const [, body = ''] = declared.exec(readFileSync(join(root, from), 'utf8')) ?? [];
  return [...body.matchAll(COLLECTION)].map(([, variable]) => `${from} ${name} ${variable}`);
}

test('no controller of the hub or of a member keeps a collection of its own from one reconcile to the next', () => {
  const found = texts.filter(([, text]) => [...text.matchAll(CONTROLLER)].length > 0).map(([file]) => file);
  expect(found).toEqual(
    expect.arrayContaining([
      'src/hub/git/controller.ts',
      'src/hub/placement/controller.ts',
      'src/hub/rollout/controller.ts',
      'src/hub/scheduler/controller.ts',
      'src/hub/staged/controller.ts',
      'src/hub/work-generator/controller.ts',
      'src/member/apply/worker.ts',
      'src/member/heartbeat/controller.ts',
    ]),
  );
  expect(texts.flatMap(([file, text]) => kept(text).map((line) => `${file}: ${line}`))).toEqual([]);
});

test('what controllers create keeps only the collections that are declared here', () => {
  const parts = readFileSync(join(root, PARTS), 'utf8');
  const found = [
    ...texts.flatMap(([file, text]) => createdBy(text).flatMap((name) => keptBy(file, text, name))),
    ...called(parts).flatMap((name) => keptBy(PARTS, parts, name)),
  ];
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(SHARED).toSorted());
});

test('finds such a collection', () => {
  const text = `
export function aController(family: Family, more = create()): Controller<Observed, Memory> {
  const active = new Set<string>();
  const since: Map<string, number> = new Map();
  function inside() {
    const fine = new Map();
  }
}

function helper() {
  const fine = new Map();
}
`;
  expect(kept(text)).toEqual(['const active = new Set<string>();', 'const since: Map<string, number> = new Map();']);
});
