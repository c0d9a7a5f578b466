// Fields that a JSON text contains twice. JSON.parse silently keeps the last one, so the text is scanned cheaply: if it
// has as many members as the value, none was lost.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;

/** More are of no use to a reader. */
const MAX_REPORTED = 100;

/** Paths of the duplicate fields, `spec.ports[0].name`, in document order. `value` is the result of JSON.parse. */
export function repeatedKeys(text: string, value: unknown): readonly string[] {
  return membersInText(text) === membersOf(value) ? [] : findRepeated(text);
}

/** The end of the string that begins at a quote. */
function endOfString(text: string, begin: number): number {
  let at = text.indexOf('"', begin + 1);
  while (text.charCodeAt(at - 1) === BACKSLASH) {
    let escapes = 1;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) break;
    at = text.indexOf('"', at + 1);
  }
  return at;
}

function membersInText(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) count++;
  }
  return count;
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += membersOf(item);
    return count;
  }
  for (const key of Object.keys(value)) count += 1 + membersOf((value as Record<string, unknown>)[key]);
  return count;
}

interface Level {
  readonly path: string;
  /** undefined in an array. */
  readonly keys: Set<string> | undefined;
  index: number;
}

/** Requires valid JSON. */
function findRepeated(text: string): readonly string[] {
  const found = new Set<string>();
  const levels: Level[] = [];
  let path = '';
  let word = '';
  const opened = (keys: Set<string> | undefined) => levels.push({ path, keys, index: 0 });
  for (let at = 0; at < text.length && found.size < MAX_REPORTED; at++) {
    const level = levels.at(-1);
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        word = text.slice(at, end + 1);
        at = end;
        break;
      }
      case COLON: {
        const key = JSON.parse(word) as string;
        path = level?.path === '' ? key : `${level?.path}.${key}`;
        if (level?.keys?.has(key)) found.add(path);
        level?.keys?.add(key);
        break;
      }
      case OPEN_OBJECT:
        opened(new Set());
        break;
      case OPEN_ARRAY:
        opened(undefined);
        path = `${path}[0]`;
        break;
      case COMMA:
        if (level && !level.keys) path = `${level.path}[${++level.index}]`;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        path = levels.pop()?.path ?? '';
        break;
    }
  }
  return [...found];
}
