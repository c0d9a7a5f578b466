// No decision and no advice depends on a message: messages are for people and may be reworded at any time. What code needs to know is a reason, a
// hold code, a field or an annotation.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const FOLDERS = ['api', 'hub', 'insight', 'member', 'cli'];

/** An expression that holds a text for people. */
const TEXT = String.raw`[\w.?!\])]*\b(?:\w*[mM]essage|sentence|because|words|says|reasonText)\??\.`;
const ASKS = String.raw`(?:startsWith|endsWith|includes|indexOf|lastIndexOf|search|match|matchAll|split|at|charAt)\(`;
const PATTERNS: readonly RegExp[] = [
  new RegExp(`${TEXT}${ASKS}`),
  // A pattern, whatever it is called, on a message.
  /\.(?:test|exec)\([^)]*\b(?:message|sentence|because|words)\b/,
];

/** Only where Kubernetes itself has no code for it: each with the reason. */
const EXCEPTIONS: readonly { readonly file: string; readonly line: string; readonly why: string }[] = [
  {
    file: 'src/member/apply/outcome.ts',
    line: 'IMMUTABLE.test(message)',
    why: 'an API server has no reason for an immutable field: FieldValueForbidden and FieldValueInvalid are also those of bad values',
  },
  {
    file: 'src/hub/membership/reported.ts',
    line: 'CONTROL.test(message',
    why: 'bounds what a member may store on the hub: any control character, whatever the message says',
  },
  {
    file: 'src/api/next-condition.ts',
    line: 'last.message.startsWith(finding.message)',
    why: 'whether a status is written again: details alone are not worth it, and nothing else follows from the answer',
  },
  {
    file: 'src/insight/explain/answer.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a line of that file
    line: 'sentence.startsWith(`${who} `)',
    why: 'puts two parts of one text together, with one subject',
  },
];

const offences = (file: string, text: string): readonly string[] =>
  text
    .split('\n')
    .map((line, at) => ({ line: line.trim(), at: at + 1 }))
    .filter(({ line }) => !line.startsWith('//') && !line.startsWith('*') && !line.startsWith('/**'))
    .filter(({ line }) => PATTERNS.some((pattern) => pattern.test(line)))
    .filter(({ line }) => !EXCEPTIONS.some((each) => each.file === file && line.includes(each.line)))
    .map(({ line, at }) => `${file}:${at} ${line}`);

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' }).map((file) => `src/${folder}/${file}`),
).filter((file) => file.endsWith('.ts') && !/\.(test|testing)\.ts$/.test(file));

test('no source of the API, the hub, the member, the explanations or the commands looks into a message', () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.flatMap((file) => offences(file, readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

test.each([
  "if (condition.message.startsWith('no Pod')) return;",
  "const isOurs = said?.message.includes('by somebody');",
  'const found = UNLISTED.exec(message);',
  'REFUSALS.find(({ words }) => words.test(message))',
  '.filter(({ message }) => PUT_BACK.test(message))',
  'const [first] = error.message.split(" ");',
])('it would find %s', (line) => expect(offences('src/hub/x.ts', line)).toHaveLength(1));

test('every exception is still in use', () => {
  for (const { file, line } of EXCEPTIONS) expect(readFileSync(join(root, file), 'utf8')).toContain(line);
});
