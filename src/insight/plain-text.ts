// Makes texts of others (messages of conditions, names, Events) safe for a terminal: one line, no control characters,
// bounded length.
import { CLIENT_ERROR_MARKER } from '../api/names.ts';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const LONGEST = 1000;

export const plainText = (text: string): string => shortened(text.replace(UNSEEN, ' ').trimEnd(), LONGEST);

/** Wraps to lines of at most `width`, between words if possible; continuation lines are indented by two more. */
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

/** At most this many characters; a truncated text ends with a mark. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;

/** Without the marker that tells programs who can fix an error: the sentence itself says that. */
export const withoutMarker = (message: string): string => message.replace(`${CLIENT_ERROR_MARKER}: `, '');

/**
 * An API server repeats the name of the object in a refusal: `Kind "x": kinds.group "x" is forbidden: why`. In a
 * summary that names the object already, this removes the repetition.
 */
export const namedOnce = (text: string): string =>
  text.replace(/("[^"]+"): [\w.-]+ \1 is (?:forbidden|invalid): /, '$1: ');
