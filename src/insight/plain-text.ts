// What others wrote (messages of conditions, names, Events) as it may stand on a terminal: one line, no control characters, not endless.
import { CLIENT_ERROR_MARKER } from '../api/names.ts';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const LONGEST = 1000;

export const plainText = (text: string): string => shortened(text.replace(UNSEEN, ' ').trimEnd(), LONGEST);

/** In lines of at most `width`, broken between words where that can be; those after the first are indented by two more. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  const own = text.length - text.trimStart().length;
  const indent = ' '.repeat(own + INDENT.length);
  let rest = text;
  while (rest.length > width && width > indent.length * 2) {
    const blank = rest.lastIndexOf(' ', width);
    const at = blank > (lines.length === 0 ? own : indent.length) ? blank : width;
    lines.push(rest.slice(0, at).trimEnd());
    rest = `${indent}${rest.slice(at).trimStart()}`;
  }
  return [...lines, rest];
}

const INDENT = '  ';

/** At most so many characters; what is cut off leaves a mark. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;

/** Without the words by which programs tell whose mistake it is: a person reads that in the sentence. */
export const withoutMarker = (message: string): string => message.replace(`${CLIENT_ERROR_MARKER}: `, '');

/**
 * An API server repeats in a refusal which object it refuses: `Kind "x": kinds.group "x" is forbidden: why`. Where the object is named already,
 * the first of two lines has no room for that.
 */
export const namedOnce = (text: string): string =>
  text.replace(/("[^"]+"): [\w.-]+ \1 is (?:forbidden|invalid): /, '$1: ');
