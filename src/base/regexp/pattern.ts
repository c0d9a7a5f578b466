// Go's regular expressions for schemas and rules that users write: RE2's syntax, in linear time. With JavaScript's
// engine a single pattern and string could block the whole server.
import { createTester, findMatch, type Span } from './match.ts';
import { PatternError, parsePattern } from './parse.ts';
import { type Program, programOf } from './program.ts';

export interface Pattern {
  /** Why the pattern is invalid; undefined = it is valid. An invalid pattern matches nothing. */
  readonly error: string | undefined;
  /** Whether the string contains a match. */
  test(text: string): boolean;
  /** All non-overlapping matches, up to a maximum. */
  matches(text: string, max?: number): readonly Span[];
  /** The approximate number of steps per character. */
  readonly size: number;
}

export function compilePattern(source: string): Pattern {
  try {
    const program = programOf(parsePattern(source));
    return {
      error: undefined,
      test: createTester(program),
      matches: (text, max) => allMatches(program, text, max ?? Number.POSITIVE_INFINITY),
      size: program.steps.length,
    };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return { error: error.message, test: () => false, matches: () => [], size: 0 };
  }
}

function allMatches(program: Program, text: string, max: number): readonly Span[] {
  const spans: Span[] = [];
  let from = 0;
  let lastEnd = -1;
  while (spans.length < max && from <= text.length) {
    const span = findMatch(program, text, from);
    if (span === undefined) break;
    // An empty match directly after another one is not a match.
    if (span.end > span.start || span.start !== lastEnd) spans.push(span);
    lastEnd = span.end;
    from = span.end > span.start ? span.end : span.end + ((text.codePointAt(span.end) ?? 0) > 0xffff ? 2 : 1);
  }
  return spans;
}
