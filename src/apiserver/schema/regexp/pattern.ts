// Regular expressions as Go has them, for schemas and rules that users write: RE2's syntax and RE2's promise, time linear in the
// text. JavaScript's own would let one pattern and one text hold up the whole server.
import { createTester, findMatch, type Span } from './match.ts';
import { PatternError, parsePattern } from './parse.ts';
import { type Program, programOf } from './program.ts';

export interface Pattern {
  /** Why the text is no regular expression; undefined = it is one. One that is none matches nothing. */
  readonly error: string | undefined;
  /** Is there a match anywhere in the text? */
  test(text: string): boolean;
  /** All matches that do not overlap, at most so many. */
  matches(text: string, max?: number): readonly Span[];
  /** About how many steps a character may cost. */
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
    // An empty match right after another one is no new match.
    if (span.end > span.start || span.start !== lastEnd) spans.push(span);
    lastEnd = span.end;
    from = span.end > span.start ? span.end : span.end + ((text.codePointAt(span.end) ?? 0) > 0xffff ? 2 : 1);
  }
  return spans;
}
