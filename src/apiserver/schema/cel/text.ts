// Functions on strings. Positions count characters (code points), as in CEL, not the UTF-16 units of JavaScript.
import { compilePattern, type Pattern } from '../../../base/regexp/pattern.ts';
import { formatText } from './format.ts';
import { type Declaration, fn, method } from './overload.ts';
import { CelError } from './value.ts';

const isPlain = (text: string): boolean => !/[\ud800-\udfff]/.test(text);

const length = (text: string): number => (isPlain(text) ? text.length : [...text].length);

/** The characters between two positions. */
function slice(text: string, from: number, to: number): string {
  return isPlain(text) ? text.slice(from, to) : [...text].slice(from, to).join('');
}

/** Converts a position in UTF-16 units to one in characters. */
const characterAt = (text: string, unit: number): bigint =>
  BigInt(unit <= 0 || isPlain(text) ? unit : [...text.slice(0, unit)].length);

const unitAt = (text: string, character: number): number =>
  isPlain(text) ? character : [...text].slice(0, character).join('').length;

function charAt(text: string, at: bigint): string {
  if (at < 0n || at > BigInt(length(text))) throw new CelError(`index out of range: ${at}`);
  return slice(text, Number(at), Number(at) + 1);
}

function indexOf(text: string, part: string, from = 0n): bigint {
  if (from < 0n) throw new CelError(`index out of range: ${from}`);
  if (from > BigInt(length(text))) return -1n;
  return characterAt(text, text.indexOf(part, unitAt(text, Number(from))));
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  if (from === undefined) return characterAt(text, text.lastIndexOf(part));
  if (from < 0n) throw new CelError(`index out of range: ${from}`);
  if (from > BigInt(length(text))) return -1n;
  return characterAt(text, text.lastIndexOf(part, unitAt(text, Number(from))));
}

function substring(text: string, from: bigint, to?: bigint): string {
  const size = BigInt(length(text));
  const end = to ?? size;
  if (from < 0n || from > size) throw new CelError(`index out of range: ${from}`);
  if (end < 0n || end > size) throw new CelError(`index out of range: ${end}`);
  if (from > end) throw new CelError(`invalid substring range. start: ${from}, end: ${end}`);
  return slice(text, Number(from), Number(end));
}

function replace(text: string, part: string, by: string, max = -1n): string {
  if (max < 0n) return text.replaceAll(part, () => by);
  let result = text;
  let from = 0;
  for (let count = 0n; count < max; count++) {
    const at = result.indexOf(part, from);
    if (at < 0 || from > result.length) break;
    result = result.slice(0, at) + by + result.slice(at + part.length);
    from = at + by.length + (part === '' ? 1 : 0);
  }
  return result;
}

function split(text: string, by: string, max = -1n): readonly string[] {
  if (max === 0n) return [];
  const parts = by === '' ? [...text] : text.split(by);
  if (max < 0n || BigInt(parts.length) <= max) return parts;
  const kept = parts.slice(0, Number(max) - 1);
  return [...kept, parts.slice(Number(max) - 1).join(by)];
}

const asciiCase = (text: string, pattern: RegExp, change: (char: string) => string): string =>
  text.replace(pattern, change);

// White space in Unicode: unlike JavaScript's \s it includes U+0085 and excludes U+FEFF.
const SPACE = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** A string in double quotes, with the escapes of CEL. */
export function quote(text: string): string {
  const inner = Buffer.from(text).toString();
  return `"${inner.replace(QUOTED, (char) => `\\${ESCAPES.get(char)}`)}"`;
}
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\x07', 'a'],
  ['\b', 'b'],
  ['\f', 'f'],
  ['\n', 'n'],
  ['\r', 'r'],
  ['\t', 't'],
  ['\v', 'v'],
  ['\\', '\\'],
  ['"', '"'],
]);
const QUOTED = new RegExp(`[${[...ESCAPES.keys()].map((char) => (char === '\\' ? '\\\\' : char)).join('')}]`, 'g');

// ---- regular expressions

// Patterns of rules are few and mostly literals; computed patterns must not be cached without limit.
const MAX_PATTERNS = 200;

export function createPatterns(): (source: string) => Pattern {
  const known = new Map<string, Pattern>();
  return (source) => {
    let pattern = known.get(source);
    if (pattern === undefined) {
      pattern = compilePattern(source);
      if (known.size >= MAX_PATTERNS) known.clear();
      known.set(source, pattern);
    }
    if (pattern.error !== undefined) throw new CelError(pattern.error);
    return pattern;
  };
}

const total = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0) / 10;

/** Each program has its own pattern cache: schemas share nothing. */
export function textFunctions(): readonly Declaration[] {
  const patternOf = createPatterns();
  const matchCost = (text: string, source: string): number => (text.length * (source.length + 4)) / 10;
  const find = (text: string, source: string): string => {
    const [span] = patternOf(source).matches(text, 1);
    return span === undefined ? '' : text.slice(span.start, span.end);
  };
  const findAll = (text: string, source: string, max = -1n): readonly string[] =>
    patternOf(source)
      .matches(text, max < 0n ? undefined : Number(max))
      .map(({ start, end }) => text.slice(start, end));

  return [
    fn(
      'matches',
      ['string', 'string'],
      'bool',
      (text: string, source: string) => patternOf(source).test(text),
      matchCost,
    ),
    method(
      'string',
      'matches',
      ['string'],
      'bool',
      (text: string, source: string) => patternOf(source).test(text),
      matchCost,
    ),
    method('string', 'find', ['string'], 'string', find, matchCost),
    method(
      'string',
      'findAll',
      ['string'],
      'list(string)',
      (text: string, source: string) => findAll(text, source),
      matchCost,
    ),
    method('string', 'findAll', ['string', 'int'], 'list(string)', findAll, matchCost),
    method('string', 'charAt', ['int'], 'string', charAt),
    method('string', 'indexOf', ['string'], 'int', (text: string, part: string) => indexOf(text, part)),
    method('string', 'indexOf', ['string', 'int'], 'int', indexOf),
    method('string', 'lastIndexOf', ['string'], 'int', (text: string, part: string) => lastIndexOf(text, part)),
    method('string', 'lastIndexOf', ['string', 'int'], 'int', lastIndexOf),
    method('list(string)', 'join', [], 'string', (texts: readonly string[]) => texts.join(''), total),
    method(
      'list(string)',
      'join',
      ['string'],
      'string',
      (texts: readonly string[], by: string) => texts.join(by),
      total,
    ),
    method('string', 'lowerAscii', [], 'string', (text: string) =>
      asciiCase(text, /[A-Z]+/g, (part) => part.toLowerCase()),
    ),
    method('string', 'upperAscii', [], 'string', (text: string) =>
      asciiCase(text, /[a-z]+/g, (part) => part.toUpperCase()),
    ),
    method(
      'string',
      'replace',
      ['string', 'string'],
      'string',
      (text: string, part: string, by: string) => replace(text, part, by),
      replaceCost,
    ),
    method('string', 'replace', ['string', 'string', 'int'], 'string', replace, replaceCost),
    method('string', 'split', ['string'], 'list(string)', (text: string, by: string) => split(text, by)),
    method('string', 'split', ['string', 'int'], 'list(string)', split),
    method('string', 'substring', ['int'], 'string', (text: string, from: bigint) => substring(text, from)),
    method('string', 'substring', ['int', 'int'], 'string', substring),
    method('string', 'trim', [], 'string', (text: string) => text.replace(OUTER_SPACE, '')),
    method('string', 'format', ['list(dyn)'], 'string', formatText),
    fn('strings.quote', ['string'], 'string', quote),
  ];
}

const replaceCost = (text: string, part: string, by: string): number =>
  part.length === 0 ? text.length * by.length : (text.length / part.length) * by.length * 0.1;
