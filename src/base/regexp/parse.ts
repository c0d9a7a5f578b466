// Parses regular expressions in Go's syntax (RE2). Constructs that RE2 rejects, such as lookahead and back references,
// are rejected here, too, because linear-time matching depends on that.

/** A set of characters: ranges of code points and Unicode classes, possibly negated. */
export interface CharSet {
  readonly negated: boolean;
  /** Pairs: from, to, from, to … */
  readonly ranges: readonly number[];
  readonly classes: readonly RegExp[];
}

export type Expression =
  | { readonly op: 'empty' }
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'all' | 'any'; readonly parts: readonly Expression[] }
  | {
      readonly op: 'repeat';
      readonly part: Expression;
      readonly min: number;
      readonly max: number;
      readonly greedy: boolean;
    }
  | { readonly op: 'assert'; readonly what: Assertion };

export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const fail = (what: string, code: string): never => {
  throw new PatternError(`error parsing regexp: ${what}: \`${code}\``);
};

interface Flags {
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
  readonly ungreedy: boolean;
}

const MAX_REPEATS = 1_000;
const DEEPEST = 250;
const LAST_CODE_POINT = 0x10ffff;

export function parsePattern(source: string): Expression {
  return new Parser(source).whole();
}

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoreCase: false, multiLine: false, dotAll: false, ungreedy: false };

  constructor(source: string) {
    this.#source = source;
  }

  whole(): Expression {
    const expression = this.#alternatives();
    if (this.#at < this.#source.length) fail('unexpected )', this.#source);
    return expression;
  }

  #peek(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#peek(text)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #alternatives(): Expression {
    if (++this.#depth > DEEPEST) fail('expression nests too deeply', this.#source);
    const flags = this.#flags;
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    this.#flags = flags;
    this.#depth--;
    return parts.length === 1 ? (parts[0] as Expression) : { op: 'any', parts };
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (this.#at < this.#source.length && !this.#peek('|') && !this.#peek(')')) {
      const part = this.#atom();
      if (part !== undefined) parts.push(this.#repeated(part));
    }
    return parts.length === 1 ? (parts[0] as Expression) : { op: 'all', parts };
  }

  #repeated(part: Expression): Expression {
    let result = part;
    let repeats = 0;
    for (;;) {
      const before = this.#at;
      const count = this.#count();
      if (count === undefined) return result;
      if (++repeats > 1) fail('invalid nested repetition operator', this.#source.slice(before - 1, this.#at));
      const lazy = this.#take('?');
      if (Math.max(count.min, count.max) > MAX_REPEATS || (count.max >= 0 && count.max < count.min)) {
        fail('invalid repeat count', this.#source.slice(before, this.#at));
      }
      result = { op: 'repeat', part: result, ...count, greedy: lazy === this.#flags.ungreedy };
    }
  }

  #count(): { readonly min: number; readonly max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: -1 };
    if (this.#take('+')) return { min: 1, max: -1 };
    if (this.#take('?')) return { min: 0, max: 1 };
    const found = this.#match(/\{(\d+)(,(\d*))?\}/y);
    if (found === null) return undefined;
    const min = Number(found[1]);
    if (found[2] === undefined) return { min, max: min };
    return { min, max: found[3] === '' ? -1 : Number(found[3]) };
  }

  /** undefined = it matches nothing by itself, such as a change of flags. */
  #atom(): Expression | undefined {
    const char = this.#next();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return this.#charOf(this.#bracket());
      case '.':
        return this.#charOf(
          this.#flags.dotAll ? set([0, LAST_CODE_POINT]) : { negated: true, ranges: [10, 10], classes: [] },
        );
      case '^':
        return { op: 'assert', what: this.#flags.multiLine ? 'line-start' : 'text-start' };
      case '$':
        return { op: 'assert', what: this.#flags.multiLine ? 'line-end' : 'text-end' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        return fail('missing argument to repetition operator', char);
      default:
        return this.#literal(char);
    }
  }

  #next(): string {
    const code = this.#source.codePointAt(this.#at) as number;
    const char = String.fromCodePoint(code);
    this.#at += char.length;
    return char;
  }

  #literal(char: string): Expression {
    const code = char.codePointAt(0) as number;
    return this.#charOf(set([code, code]));
  }

  #charOf(of: CharSet): Expression {
    return { op: 'char', set: this.#flags.ignoreCase ? folded(of) : of };
  }

  #group(): Expression | undefined {
    const start = this.#at - 1;
    if (this.#take('?')) {
      const named = this.#match(/P?<([A-Za-z0-9_]+)>/y);
      if (named === null) {
        const found = this.#match(/([imsU]*)(?:-([imsU]+))?([:)])/y);
        if (found === null) return fail('invalid or unsupported Perl syntax', this.#source.slice(start, start + 3));
        const before = this.#flags;
        const has = (flag: string, was: boolean): boolean =>
          found[2]?.includes(flag) ? false : (found[1] ?? '').includes(flag) || was;
        this.#flags = {
          ignoreCase: has('i', before.ignoreCase),
          multiLine: has('m', before.multiLine),
          dotAll: has('s', before.dotAll),
          ungreedy: has('U', before.ungreedy),
        };
        // Flags without a colon apply until the end of the enclosing group, which restores the previous ones.
        if (found[3] === ')') return undefined;
        const inner = this.#closed();
        this.#flags = before;
        return inner;
      }
    }
    return this.#closed();
  }

  #closed(): Expression {
    const inner = this.#alternatives();
    if (!this.#take(')')) fail('missing closing )', this.#source);
    return inner;
  }

  #escape(): Expression {
    if (this.#at >= this.#source.length) fail('trailing backslash at end of expression', '');
    const quoted = this.#match(/Q((?:[^\\]|\\(?!E))*)(?:\\E|$)/y);
    if (quoted !== null) return { op: 'all', parts: [...(quoted[1] ?? '')].map((char) => this.#literal(char)) };
    if (this.#take('A')) return { op: 'assert', what: 'text-start' };
    if (this.#take('z')) return { op: 'assert', what: 'text-end' };
    if (this.#take('b')) return { op: 'assert', what: 'word-edge' };
    if (this.#take('B')) return { op: 'assert', what: 'no-word-edge' };
    const shorthand = this.#shorthand();
    if (shorthand !== undefined) return this.#charOf(shorthand);
    const code = this.#escapedCode();
    return this.#charOf(set([code, code]));
  }

  /** `\d`, `\W`, `\pL`, `\P{Greek}`: character classes, inside and outside of brackets. */
  #shorthand(): CharSet | undefined {
    const perl = this.#match(/[dswDSW]/y)?.[0];
    if (perl !== undefined) {
      const ranges = PERL[perl.toLowerCase()] as readonly number[];
      return { negated: perl !== perl.toLowerCase(), ranges, classes: [] };
    }
    const unicode = this.#match(/([pP])(?:([A-Za-z])|\{(\^?)([A-Za-z_]+)\})/y);
    if (unicode === null) return undefined;
    const [all, letter, single, not, name = single ?? ''] = unicode;
    return { negated: (letter === 'P') !== (not === '^'), ranges: [], classes: [unicodeClass(name, all)] };
  }

  #escapedCode(): number {
    const hex = this.#match(/x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,8})\})/y);
    if (hex !== null) {
      const code = Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
      return code <= LAST_CODE_POINT ? code : fail('invalid escape sequence', `\\${hex[0]}`);
    }
    const octal = this.#match(/0[0-7]{0,2}|[1-7][0-7]{2}/y)?.[0];
    if (octal !== undefined) return Number.parseInt(octal, 8);
    const char = this.#next();
    const control = 'afnrtv'.indexOf(char);
    if (control >= 0) return [7, 12, 10, 13, 9, 11][control] as number;
    if (/^[\x21-\x7e]$/.test(char) && !/^[A-Za-z0-9]$/.test(char)) return char.codePointAt(0) as number;
    return fail('invalid escape sequence', `\\${char}`);
  }

  #bracket(): CharSet {
    const start = this.#at - 1;
    const negated = this.#take('^');
    const ranges: number[] = [];
    const classes: RegExp[] = [];
    for (let first = true; ; first = false) {
      if (this.#at >= this.#source.length) return fail('missing closing ]', this.#source.slice(start));
      if (!first && this.#take(']')) return { negated, ranges, classes };
      const many = this.#manyInBracket();
      if (many !== undefined) {
        if (many.negated) {
          ranges.push(...complement(many.ranges));
          for (const each of many.classes) classes.push(inverse(each));
        } else {
          ranges.push(...many.ranges);
          classes.push(...many.classes);
        }
        continue;
      }
      const from = this.#codeInBracket();
      let to = from;
      if (this.#peek('-') && !this.#peek('-]') && this.#at + 1 < this.#source.length) {
        this.#at++;
        to = this.#codeInBracket();
        if (to < from) fail('invalid character class range', this.#source.slice(start, this.#at));
      }
      ranges.push(from, to);
    }
  }

  #manyInBracket(): CharSet | undefined {
    const posix = this.#match(/\[:(\^?)([a-z]+):\]/y);
    if (posix !== null) {
      const ranges = POSIX[posix[2] ?? ''];
      if (ranges === undefined) return fail('invalid character class range', posix[0]);
      return { negated: posix[1] === '^', ranges, classes: [] };
    }
    if (!this.#peek('\\')) return undefined;
    this.#at++;
    const found = this.#shorthand();
    if (found === undefined) this.#at--;
    return found;
  }

  #codeInBracket(): number {
    if (this.#take('\\')) return this.#escapedCode();
    return this.#next().codePointAt(0) as number;
  }
}

const set = (ranges: readonly number[]): CharSet => ({ negated: false, ranges, classes: [] });

const PERL: Readonly<Record<string, readonly number[]>> = {
  d: [48, 57],
  s: [9, 10, 12, 13, 32, 32],
  w: [48, 57, 65, 90, 95, 95, 97, 122],
};

const POSIX: Readonly<Partial<Record<string, readonly number[]>>> = {
  alnum: [48, 57, 65, 90, 97, 122],
  alpha: [65, 90, 97, 122],
  ascii: [0, 127],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: [48, 57],
  graph: [33, 126],
  lower: [97, 122],
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: [9, 13, 32, 32],
  upper: [65, 90],
  word: [48, 57, 65, 90, 95, 95, 97, 122],
  xdigit: [48, 57, 65, 70, 97, 102],
};

function unicodeClass(name: string, code: string): RegExp {
  for (const property of [name, `Script=${name}`]) {
    try {
      return new RegExp(`^\\p{${property}}$`, 'u');
    } catch {
      // Not a name of this kind; try the other one.
    }
  }
  return fail('invalid character class range', `\\${code}`);
}

const inverse = (of: RegExp): RegExp => new RegExp(of.source.replace('\\p', '\\P'), 'u');

function complement(ranges: readonly number[]): number[] {
  const pairs: [number, number][] = [];
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at] as number, ranges[at + 1] as number]);
  pairs.sort((a, b) => a[0] - b[0]);
  const rest: number[] = [];
  let next = 0;
  for (const [from, to] of pairs) {
    if (from > next) rest.push(next, from - 1);
    next = Math.max(next, to + 1);
  }
  if (next <= LAST_CODE_POINT) rest.push(next, LAST_CODE_POINT);
  return rest;
}

/** The same characters in both cases. In large ranges only ASCII is folded. */
function folded(of: CharSet): CharSet {
  const ranges = [...of.ranges];
  for (let at = 0; at < of.ranges.length; at += 2) {
    const from = of.ranges[at] as number;
    const to = Math.min(of.ranges[at + 1] as number, from + 2_000);
    for (let code = from; code <= to; code++) {
      const char = String.fromCodePoint(code);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const folds = other.codePointAt(0) as number;
        if (folds !== code && String.fromCodePoint(folds) === other) ranges.push(folds, folds);
      }
    }
  }
  return { ...of, ranges };
}
