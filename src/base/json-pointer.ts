// JSON pointers (RFC 6901): `/spec/template/metadata/labels/app.kubernetes.io~1name`.
import { isObject } from './json.ts';

/** The keys of a pointer; undefined if the text is not a pointer. The empty string is the whole document. */
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

/** The list index of a key, or undefined if it is not a number. */
export const indexOfKey = (key: string): number | undefined => (INDEX.test(key) ? Number(key) : undefined);

/** The value at a pointer; undefined if there is none. Only own fields count. */
export function valueAt(document: unknown, keys: readonly string[]): unknown {
  let here = document;
  for (const key of keys) {
    if (Array.isArray(here)) here = here[indexOfKey(key) ?? -1];
    else if (isObject(here) && Object.hasOwn(here, key)) here = here[key];
    else return undefined;
  }
  return here;
}
