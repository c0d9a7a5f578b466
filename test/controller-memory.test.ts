// What a controller remembers of a key is declared as its memory: the runtime creates it and drops it with the key. A map in the closure of a
// controller would be neither typed by key nor dropped, and `state()` would not show it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** A function that returns a controller or a worker: what stands at its top level lives as long as the program. */
const CONTROLLER = /^export (?:function|const) \w+[\s\S]*?\): (?:Controller|Worker)<?[\s\S]*?\{\n([\s\S]*?)^\}/gm;
const COLLECTION = /^ {2}(?:const|let) \w+(?:: [^=]+)? = new (?:Map|Set|WeakMap|WeakSet)\b.*$/gm;

const kept = (text: string): readonly string[] =>
  [...text.matchAll(CONTROLLER)].flatMap(([, body = '']) =>
    [...body.matchAll(COLLECTION)].map(([line]) => line.trim()),
  );

test('no controller of the hub or of a member keeps a collection of its own from one reconcile to the next', () => {
  const files = ['hub', 'member'].flatMap((folder) =>
    readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?:^|\/)(?:controller|worker)\.ts$/.test(file))
      .map((file) => `src/${folder}/${file}`),
  );
  const texts = files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
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
