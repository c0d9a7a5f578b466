// Every manifest and command of the seeds, as their readers would use them.
import { readFileSync } from 'node:fs';
import { commands, manifests } from '../../seeds/index.ts';
import { type Command, script } from '../script.ts';

const read = (file: string): string => readFileSync(new URL(`../../seeds/${file}`, import.meta.url), 'utf8');
const namespaces = [...new Set(['test-namespace', ...manifests.flatMap((manifest) => manifest.namespaces ?? [])])];
const OWN_WARNING = { line: /^Warning: \S+ OriginalResource needs a policy /, known: 'own-warnings' };

/** One after the other, as printed; what a later manifest changes is there. */
const applied: readonly Command[] = manifests.flatMap(({ file }) => {
  const input = read(file);
  return [
    { run: 'apply -f -', input, without: [OWN_WARNING] },
    { run: 'get -f - -o yaml', input },
    { run: 'get -f -', input },
  ];
});

/** The words after `kubectl` on one line; the moments that the shell would fill in are given. */
const printed = commands.map(({ command }): Command => {
  const line = command
    .replace(/\$\(date[^)]*\)/g, 'NOW')
    .replaceAll(`"'NOW'"`, '"2026-01-01T00:00:00Z"')
    .replace(/\\\n/g, ' ')
    .replace(/^kubectl /, '');
  return { run: line, without: [OWN_WARNING] };
});

export const seeds = script('seeds', [...namespaces.map((name) => `create ns ${name}`), ...applied, ...printed]);
