// JSON text exactly as Go's encoder writes a map: sorted keys, no white space, and HTML-sensitive characters escaped.
// For hashes and annotations that Go programs compare with their own.

export function goJson(value: unknown): string {
  if (typeof value === 'string') return goText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${goJson(item)}`;
    return `[${text}]`;
  }
  for (const key of inOrder(Object.keys(value))) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${goText(key)}:${goJson(item)}`;
  }
  return `{${text}}`;
}

const ESCAPED = /[<>&\u2028\u2029]/g;
/** Text that every encoder writes the same way. */
const PLAIN = /^[\w !#$%'()*+,\-./:;=?@[\]^`{|}~]*$/;

const goText = (text: string): string =>
  PLAIN.test(text)
    ? `"${text}"`
    : JSON.stringify(text).replace(ESCAPED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);

const SURROGATE = /[\ud800-\udfff]/;

const inOrder = (keys: string[]): readonly string[] =>
  keys.some((key) => SURROGATE.test(key)) ? keys.sort(byBytes) : keys.sort();

/** Sorts by UTF-8 bytes, which differs from UTF-16 order only between surrogates and characters above U+DFFF. */
function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return raised(left) - raised(right);
  }
  return a.length - b.length;
}

const raised = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
