// JSONPath in Kubernetes' dialect, for the columns of CRDs and the paths of scale subresources: `.spec.replicas`,
// `.metadata.labels.app\.kubernetes\.io/name`, `.status.conditions[?(@.type=="Ready")].status`, `[0]`, `[-1]`, `[1:3]`,
// `[*]`, `['x']`, `..name`.
// A path without a match has an empty result, never an error: the column of an object without the field is an empty
// cell.
import { isObject } from './json.ts';

/** All values at a path, in document order. */
export type JsonPath = (value: unknown) => readonly unknown[];

/** The path is invalid. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

// undefined = the path does not fit the data (an index out of range, a filter on something that is not a list), so the
// whole result is empty.
type Step = (inputs: readonly unknown[]) => readonly unknown[] | undefined;

type Part = { readonly field: string } | { readonly step: Step };

const LONGEST_PATH = 10_000;
const DEEPEST_FILTER = 8;
const NOTHING: readonly unknown[] = Object.freeze([]);

/** Compiles a path once; throws JsonPathError with a reason. */
export function compileJsonPath(text: string): JsonPath {
  const parts = parsePath(text);
  const fields = onlyFields(parts);
  if (fields !== undefined) {
    return (value) => {
      const found = walk(value, fields);
      return found === undefined ? NOTHING : [found];
    };
  }
  const steps = parts.map(stepOf);
  return (value) => run(steps, value) ?? NOTHING;
}

/** Like compileJsonPath, but only the first value; plain field paths allocate nothing. */
export function compileFirst(text: string): (value: unknown) => unknown {
  const parts = parsePath(text);
  const fields = onlyFields(parts);
  if (fields !== undefined) return (value) => walk(value, fields);
  const steps = parts.map(stepOf);
  return (value) => run(steps, value)?.[0];
}

function onlyFields(parts: readonly Part[]): readonly string[] | undefined {
  const fields: string[] = [];
  for (const part of parts) {
    if (!('field' in part)) return undefined;
    fields.push(part.field);
  }
  return fields;
}

function walk(value: unknown, fields: readonly string[]): unknown {
  let here = value;
  for (const field of fields) {
    if (!isObject(here) || !Object.hasOwn(here, field)) return undefined;
    here = here[field];
  }
  return here;
}

function run(steps: readonly Step[], value: unknown): readonly unknown[] | undefined {
  let found: readonly unknown[] | undefined = [value];
  for (const step of steps) {
    found = step(found);
    if (found === undefined) return undefined;
  }
  return found;
}

// ---- steps

const stepOf = (part: Part): Step => ('step' in part ? part.step : fieldStep(part.field));

const fieldStep =
  (field: string): Step =>
  (inputs) => {
    const found: unknown[] = [];
    for (const value of inputs) {
      if (isObject(value) && Object.hasOwn(value, field) && value[field] !== undefined) found.push(value[field]);
    }
    return found;
  };

const childrenOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value) : NOTHING;

const wildcard: Step = (inputs) => inputs.flatMap(childrenOf);

/** Every container at or below the inputs, parents first. Uses its own stack, so deep values cannot overflow ours. */
const descend: Step = (inputs) => {
  const found: unknown[] = [];
  const pending = inputs.toReversed();
  while (pending.length > 0) {
    const children = childrenOf(pending.at(-1));
    const value = pending.pop();
    if (children.length === 0) continue;
    found.push(value);
    for (let i = children.length - 1; i >= 0; i--) pending.push(children[i]);
  }
  return found;
};

interface Slice {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly step: number;
  /** `[3]` as opposed to `[3:4]`. */
  readonly single: boolean;
}

const sliceStep =
  ({ from, to, step, single }: Slice): Step =>
  (inputs) => {
    const found: unknown[] = [];
    for (const value of inputs) {
      if (value === null) continue;
      if (!Array.isArray(value)) return undefined;
      const start = from === undefined ? 0 : from < 0 ? from + value.length : from;
      const end = single ? start + 1 : to === undefined ? value.length : to < 0 ? to + value.length : to;
      if (start === end) continue;
      if (start < 0 || start >= value.length || end > value.length || end < start) return undefined;
      for (let i = start; i < end; i += step) found.push(value[i]);
    }
    return found;
  };

const unionStep =
  (members: readonly (readonly Step[])[]): Step =>
  (inputs) => {
    const found: unknown[] = [];
    for (const steps of members) {
      let values: readonly unknown[] | undefined = inputs;
      for (const step of steps) {
        values = step(values);
        if (values === undefined) return undefined;
      }
      found.push(...values);
    }
    return found;
  };

type Operand = (item: unknown) => readonly unknown[] | undefined;

const filterStep =
  (left: Operand, compare: ((a: unknown, b: unknown) => boolean | undefined) | undefined, right: Operand): Step =>
  (inputs) => {
    const found: unknown[] = [];
    for (const value of inputs) {
      if (!Array.isArray(value)) return undefined;
      for (const item of value) {
        const lefts = left(item);
        if (compare === undefined) {
          if (lefts !== undefined && lefts.length > 0) found.push(item);
          continue;
        }
        const rights = right(item);
        if (lefts === undefined || rights === undefined || lefts.length > 1 || rights.length > 1) return undefined;
        if (lefts.length === 0 || rights.length === 0) continue;
        const passes = compare(lefts[0], rights[0]);
        if (passes === undefined) return undefined;
        if (passes) found.push(item);
      }
    }
    return found;
  };

// Values of different types cannot be compared, not even for inequality.
function comparison(operator: string): ((a: unknown, b: unknown) => boolean | undefined) | undefined {
  const of = (decide: (a: string | number, b: string | number) => boolean) => (a: unknown, b: unknown) =>
    (typeof a === 'string' && typeof b === 'string') || (typeof a === 'number' && typeof b === 'number')
      ? decide(a, b)
      : undefined;
  const same = (wanted: boolean) => (a: unknown, b: unknown) =>
    typeof a !== typeof b || typeof a === 'object' ? undefined : (a === b) === wanted;
  switch (operator) {
    case '==':
      return same(true);
    case '!=':
      return same(false);
    case '<':
      return of((a, b) => a < b);
    case '<=':
      return of((a, b) => a <= b);
    case '>':
      return of((a, b) => a > b);
    case '>=':
      return of((a, b) => a >= b);
    default:
      return undefined;
  }
}

// ---- parser

interface Cursor {
  readonly text: string;
  at: number;
  readonly depth: number;
}

function parsePath(text: string): readonly Part[] {
  if (text.length > LONGEST_PATH) throw new JsonPathError(`the path is longer than ${LONGEST_PATH} characters`);
  const cursor: Cursor = { text, at: 0, depth: 0 };
  const parts = parseParts(cursor);
  if (cursor.at < text.length) {
    const odd = text.slice(cursor.at, cursor.at + 20);
    throw new JsonPathError(`unrecognized character in action at ${cursor.at}: ${JSON.stringify(odd)}`);
  }
  if (parts.length === 0 && !/[@$]/.test(text)) throw new JsonPathError('the path is empty');
  return parts;
}

/** Parses parts until none follows. */
function parseParts(cursor: Cursor): Part[] {
  const parts: Part[] = [];
  skipSpace(cursor);
  if (taken(cursor, /[$@]/y) !== undefined) skipSpace(cursor);
  for (;;) {
    skipSpace(cursor);
    const next = cursor.text[cursor.at];
    if (cursor.text.startsWith('..', cursor.at)) {
      cursor.at += 2;
      if (cursor.text.startsWith('..', cursor.at)) throw new JsonPathError('invalid multiple recursive descent');
      parts.push({ step: descend });
      if (/[\w*]/.test(cursor.text.charAt(cursor.at))) parts.push(fieldAt(cursor));
    } else if (next === '.') {
      cursor.at++;
      parts.push(fieldAt(cursor));
    } else if (next === '[') {
      parts.push(...bracketAt(cursor));
    } else {
      return parts;
    }
  }
}

/** A field name; a backslash escapes the next character. */
function fieldAt(cursor: Cursor): Part {
  const raw = taken(cursor, /(?:\\[\s\S]|[^\s.,[\]$@{}()=!<>\\])+/y) ?? '';
  return raw === '*' ? { step: wildcard } : { field: raw.replace(/\\([\s\S])/g, '$1') };
}

function bracketAt(cursor: Cursor): readonly Part[] {
  cursor.at++;
  if (cursor.text.startsWith('?(', cursor.at)) {
    cursor.at += 2;
    return [{ step: filterAt(cursor) }];
  }
  const members: (readonly Part[])[] = [];
  for (;;) {
    skipSpace(cursor);
    members.push(memberAt(cursor));
    skipSpace(cursor);
    const end = taken(cursor, /[\],]/y);
    if (end === undefined) throw new JsonPathError('unterminated array');
    if (end === ']') break;
  }
  const [first = []] = members;
  return members.length === 1 ? first : [{ step: unionStep(members.map((parts) => parts.map(stepOf))) }];
}

/** The content of brackets: a quoted key, `*`, an index or a slice. */
function memberAt(cursor: Cursor): readonly Part[] {
  const quoted = taken(cursor, /'[^']*'|"[^"]*"/y);
  // As in Kubernetes a quoted key is parsed as a path: dots in names need a backslash here, too.
  if (quoted !== undefined) return parsePath(`.${quoted.slice(1, -1)}`);
  if (taken(cursor, /\*/y) !== undefined) return [{ step: wildcardOfList }];
  const slice = taken(cursor, /[-\d: ]+/y) ?? '';
  const numbers = slice.trim().split(':');
  if (numbers.length > 3 || slice.trim() === '' || numbers.some((each) => !/^(-?\d+)?$/.test(each))) {
    throw new JsonPathError(`invalid array index ${cursor.text.slice(cursor.at - slice.length).split(']', 1)[0]}`);
  }
  const [from, to, step] = numbers.map((each) => (each === '' ? undefined : Number(each)));
  if (step !== undefined && step <= 0) throw new JsonPathError('step must be > 0');
  return [{ step: sliceStep({ from, to, step: step ?? 1, single: numbers.length === 1 }) }];
}

const wildcardOfList: Step = sliceStep({ from: undefined, to: undefined, step: 1, single: false });

function filterAt(cursor: Cursor): Step {
  if (cursor.depth >= DEEPEST_FILTER) throw new JsonPathError('filters are nested too deeply');
  const inner: Cursor = { text: cursor.text, at: cursor.at, depth: cursor.depth + 1 };
  const left = operandAt(inner);
  skipSpace(inner);
  const operator = taken(inner, /[!<>=]+/y);
  const compare = operator === undefined ? undefined : comparison(operator);
  if (operator !== undefined && compare === undefined) {
    throw new JsonPathError(`unrecognized filter operator ${operator}`);
  }
  const right: Operand = operator === undefined ? () => NOTHING : operandAt(inner);
  skipSpace(inner);
  if (taken(inner, /\)\s*\]/y) === undefined) throw new JsonPathError('unterminated filter');
  cursor.at = inner.at;
  return filterStep(left, compare, right);
}

function operandAt(cursor: Cursor): Operand {
  skipSpace(cursor);
  const quoted = taken(cursor, /'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"/y);
  if (quoted !== undefined) return constant(quoted.slice(1, -1).replace(/\\([\s\S])/g, '$1'));
  const number = taken(cursor, /[-+]?\d+(?:\.\d+)?/y);
  if (number !== undefined) return constant(Number(number));
  const word = taken(cursor, /true|false/y);
  if (word !== undefined) return constant(word === 'true');
  const before = cursor.at;
  const steps = parseParts(cursor).map(stepOf);
  if (cursor.at === before) throw new JsonPathError('unterminated filter');
  return (item) => run(steps, item);
}

function constant(value: unknown): Operand {
  const values = [value];
  return () => values;
}

function skipSpace(cursor: Cursor): void {
  while (cursor.text[cursor.at] === ' ') cursor.at++;
}

/** Consumes what a sticky pattern matches at the cursor. */
function taken(cursor: Cursor, sticky: RegExp): string | undefined {
  sticky.lastIndex = cursor.at;
  const match = sticky.exec(cursor.text)?.[0];
  if (match !== undefined) cursor.at += match.length;
  return match;
}
