// docs/seeds.md is true: its blocks, in its order, word for word, on the fleets that it names, print what stands below them; and its manifests
// and commands are those of seed 002.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { commands, manifests } from '../seeds/index.ts';
import { isAsShown, stepsOf } from './seeds-walk.ts';
import { skipsKubectl } from './server.ts';
import { aTerminal, stepsIn } from './terminal.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/seeds.md'), 'utf8');
/** Done by whoever runs this suite. */
const PREPARED = 'npm ci && npm run build\n';

describe('a page that is a walk', () => {
  const block = (info: string, text: string) => `\`\`\`${info}\n${text}\`\`\`\n`;

  test('has blocks of commands, each with what it prints', () => {
    const text = `# Title\n\n${block('sh', 'a\nb\n')}\nWords.\n\n${block('sh exit-2', 'c\n')}\n${block('text', 'no\n')}`;
    expect(stepsOf(text)).toEqual([
      { line: 3, commands: 'a\nb\n', code: 0, prints: '' },
      { line: 10, commands: 'c\n', code: 2, prints: 'no\n' },
    ]);
  });

  test.each([
    { it: 'a block that nothing runs', text: block('yaml', 'a: b\n') },
    { it: 'what is printed by nobody', text: block('text', 'x\n') },
    { it: 'two outputs of one block', text: block('sh', 'a\n') + block('text', 'x\n') + block('text', 'y\n') },
    { it: 'no end', text: '```sh\na\n' },
  ])('does not have $it', ({ text }) => {
    expect(() => stepsOf(text)).toThrow(/^line \d/);
  });

  test.each([
    { shown: 'a  b\n', printed: 'a b\n', is: true },
    { shown: 'a b\n', printed: 'ab\n', is: false },
    { shown: 'a b\n', printed: 'a b\nc\n', is: false },
    { shown: 'a b\n', printed: '', is: false },
    { shown: '', printed: 'a\n', is: false },
    { shown: 'a … c\n', printed: 'a 1h c\n', is: true },
    { shown: 'a … c\n', printed: 'a 1h\nc\n', is: false },
    { shown: 'a … c\n', printed: 'a 1h b c\n', is: false },
    { shown: 'a … c\n', printed: 'a c\n', is: false },
    { shown: 'a …\n', printed: 'a 1h b\n', is: false },
    { shown: 'a…\n', printed: 'a 1h b\n', is: true },
    { shown: 'a…\n', printed: 'a\n', is: true },
    { shown: 'a (…)\n', printed: 'a (b)\n', is: true },
    { shown: 'a (…)\n', printed: 'a (b c)\n', is: false },
    { shown: '…\nb\n…\n', printed: 'a\nb\n', is: true },
    { shown: '…\nb\n…\n', printed: 'a\nbb\n', is: false },
    { shown: '  …\nb\n', printed: 'b\n', is: true },
  ])('takes $printed for $shown: $is', ({ shown, printed, is }) => {
    expect(isAsShown(shown, printed)).toBe(is);
  });
});

describe('docs/seeds.md', () => {
  /** Blanks before a comment are a matter of taste, and YAML has its own opinion of the others. */
  const narrow = (text: string) => text.replace(/(?<=\S) +/g, ' ').trim();
  const given = [...page.matchAll(/<<'EOF'\n(.*?)\nEOF\n/gs)].map(([, text]) => narrow(text as string));
  const named = (text: string) => /^kind: .*\nmetadata:\n {2}name: .*$/m.exec(text)?.[0];

  test.each(manifests.filter(({ file, role }) => file.startsWith('002/') && role === 'input'))(
    'has the manifest of $id as printed',
    ({ file }) => {
      const [, ...lines] = readFileSync(join(root, 'test/seeds', file), 'utf8').split('\n');
      const printed = narrow(lines.join('\n'));
      expect(given.find((each) => named(each) === named(printed))).toBe(printed);
    },
  );

  test.each(commands.filter(({ seed }) => seed === '002'))('has the command of $id as printed', ({ command }) => {
    expect(stepsOf(page).map((step) => step.commands)).toContainEqual(expect.stringContaining(`${command}\n`));
  });

  test('changes waits in one line each, and says so there', () => {
    const changing = stepsOf(page).flatMap((step) =>
      step.commands.split('\n').filter((line) => line.startsWith('sed ')),
    );
    expect(changing).toEqual([
      expect.stringMatching(/waitTime: 1h\/waitTime: 5s.* # /),
      expect.stringMatching(/waitTime: 30m\/waitTime: 5s.* # /),
    ]);
  });
});

describe.skipIf(skipsKubectl)('the walk of docs/seeds.md', () => {
  test('leads through both scopes', { timeout: patience(600_000) }, async () => {
    await using terminal = aTerminal();
    const [first, ...steps] = stepsIn('docs/seeds.md');
    expect(first?.commands).toBe(PREPARED);
    await terminal.walk('docs/seeds.md', steps);
    const left = readdirSync(terminal.folder).filter((name) => !name.startsWith('.'));
    expect(left).toEqual(['flotilla', 'kubectl']);
  });
});
