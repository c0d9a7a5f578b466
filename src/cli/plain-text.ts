// What others wrote (messages of conditions, names, Events) as it may stand on a terminal: one line, no control characters, not endless.
import { CLIENT_ERROR_MARKER } from '../api/names.ts';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const LONGEST = 1000;

export const plainText = (text: string): string => shortened(text.replace(UNSEEN, ' ').trimEnd(), LONGEST);

/** At most so many characters; what is cut off leaves a mark. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;

/** Without the words by which programs tell whose mistake it is: a person reads that in the sentence. */
export const withoutMarker = (message: string): string => message.replace(`${CLIENT_ERROR_MARKER}: `, '');
