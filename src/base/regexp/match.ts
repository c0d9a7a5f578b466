// Runs a program over a string, following all alternatives in parallel: the time is proportional to the length of the
// string times the size of the program, for any pattern. To test for a match, sets of alternatives are cached as
// states, so that a character usually costs one lookup.
import type { Assertion, CharSet } from './parse.ts';
import type { Program } from './program.ts';

function inSet({ negated, ranges, classes }: CharSet, code: number): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (code >= (ranges[at] as number) && code <= (ranges[at + 1] as number)) return !negated;
  }
  if (classes.length > 0) {
    const char = String.fromCodePoint(code);
    if (classes.some((each) => each.test(char))) return !negated;
  }
  return negated;
}

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);

/** `before` and `after` are the adjacent code points; -1 = none. */
function holds(what: Assertion, before: number, after: number): boolean {
  switch (what) {
    case 'text-start':
      return before < 0;
    case 'text-end':
      return after < 0;
    case 'line-start':
      return before < 0 || before === 10;
    case 'line-end':
      return after < 0 || after === 10;
    case 'word-edge':
      return isWord(before) !== isWord(after);
    case 'no-word-edge':
      return isWord(before) === isWord(after);
  }
}

/** Adds a step and all steps reachable from it without a character, preferred ones first. */
function follow(
  program: Program,
  from: number,
  before: number,
  after: number,
  found: number[],
  seen: Uint8Array,
): void {
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen[at] === 1) continue;
    seen[at] = 1;
    const step = program.steps[at];
    if (step === undefined) continue;
    if (step.op === 'split') open.push(step.second, step.first);
    else if (step.op === 'assert') {
      if (holds(step.what, before, after)) open.push(step.next);
    } else found.push(at);
  }
}

// ---- finding the first match

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The leftmost match from a position on; among those the one that the pattern prefers, as in Perl and Go. */
export function findMatch(program: Program, text: string, from: number): Span | undefined {
  let ways: { readonly at: number; readonly start: number }[] = [];
  let best: Span | undefined;
  let before = from === 0 ? -1 : codeBefore(text, from);
  for (let position = from; ; ) {
    const code = position < text.length ? (text.codePointAt(position) as number) : -1;
    const seen = new Uint8Array(program.steps.length);
    const reached: { readonly at: number; readonly start: number }[] = [];
    const spread = (at: number, start: number): void => {
      const found: number[] = [];
      follow(program, at, before, code, found, seen);
      for (const each of found) reached.push({ at: each, start });
    };
    for (const way of ways) spread(way.at, way.start);
    if (best === undefined) spread(program.start, position);
    ways = [];
    for (const way of reached) {
      const step = program.steps[way.at];
      if (step?.op === 'match') {
        best = { start: way.start, end: position };
        // The following alternatives are less preferred.
        break;
      }
      if (step?.op === 'char' && code >= 0 && inSet(step.set, code)) ways.push({ at: step.next, start: way.start });
    }
    if (code < 0 || (ways.length === 0 && best !== undefined)) return best;
    before = code;
    position += code > 0xffff ? 2 : 1;
  }
}

function codeBefore(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff && at > 1 ? (text.codePointAt(at - 2) as number) : code;
}

// ---- testing for a match

interface State {
  /** The next `char` steps, and whether a match is reached without any. */
  readonly steps: readonly number[];
  readonly isMatch: boolean;
  /** Whether a match is reached if the string ends here. */
  readonly isMatchAtEnd: boolean;
  readonly ascii: (State | undefined)[];
}

const MAX_STATES = 500;

export function createTester(program: Program): (text: string) => boolean {
  if (!program.isPlain) return (text) => findMatch(program, text, 0) !== undefined;
  let states = new Map<string, State>();
  let initial: State | undefined;

  const stateOf = (from: readonly number[], before: number): State => {
    const reach = (after: number): number[] => {
      const found: number[] = [];
      const seen = new Uint8Array(program.steps.length);
      for (const at of from) follow(program, at, before, after, found, seen);
      // A match may begin at any position.
      follow(program, program.start, before, after, found, seen);
      return found;
    };
    // Once with any next character (0 represents it), once at the end.
    const inside = reach(0);
    const atEnd = reach(-1);
    const isMatch = (found: readonly number[]): boolean => found.some((at) => program.steps[at]?.op === 'match');
    const steps = inside.filter((at) => program.steps[at]?.op === 'char').sort((a, b) => a - b);
    const key = `${before < 0 ? '^' : ''}${isMatch(inside) ? '!' : ''}${isMatch(atEnd) ? '$' : ''}${steps.join()}`;
    const known = states.get(key);
    if (known !== undefined) return known;
    // Clearing the cache is cheap and rare: only malicious patterns have many states.
    if (states.size >= MAX_STATES) states = new Map();
    const state = { steps, isMatch: isMatch(inside), isMatchAtEnd: isMatch(atEnd), ascii: [] };
    states.set(key, state);
    return state;
  };

  const advance = (state: State, code: number): State => {
    if (code < 128) {
      const known = state.ascii[code];
      if (known !== undefined) return known;
    }
    const next: number[] = [];
    for (const at of state.steps) {
      const step = program.steps[at];
      if (step?.op === 'char' && inSet(step.set, code)) next.push(step.next);
    }
    const following = stateOf(next, 0);
    if (code < 128) state.ascii[code] = following;
    return following;
  };

  return (text) => {
    initial ??= stateOf([], -1);
    let state = initial;
    for (let position = 0; position < text.length; ) {
      if (state.isMatch) return true;
      const code = text.codePointAt(position) as number;
      state = advance(state, code);
      position += code > 0xffff ? 2 : 1;
    }
    return state.isMatch || state.isMatchAtEnd;
  };
}
