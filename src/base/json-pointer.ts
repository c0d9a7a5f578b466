// JSON pointers (RFC 6901): `/spec/template/metadata/labels/app.kubernetes.io~1name`.
import { isObject } from './json.ts';

/** The keys of a pointer; undefined when the text is none. The empty text points at the whole document. */
export function parsePointer(text: string): readonly string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((key) => (key.includes('~') ? key.replaceAll('~1', '/').replaceAll('~0', '~') : key));
}

export const formatPointer = (keys: readonly string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** The place in a list that a key names, or undefined when it is no number. */
export const indexOfKey = (key: string): number | undefined => (INDEX.test(key) ? Number(key) : undefined);

/** What a pointer's keys lead to; undefined when nothing is there. Only own fields count. */
export function valueAt(document: unknown, keys: readonly string[]): unknown {
  let here = document;
  for (const key of keys) {
    if (Array.isArray(here)) here = here[indexOfKey(key) ?? -1];
    else if (isObject(here) && Object.hasOwn(here, key)) here = here[key];
    else return undefined;
  }
  return here;
}
