// The message of a real server for bytes that are not JSON. Called only after JSON.parse has failed, so it need not be
// fast.

const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const QUOTE = 0x22;
const END = 'unexpected end of JSON input';

type Expect = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'separator';

/** Nesting deeper than `maxDepth` is an error, too. undefined = the bytes are JSON. */
export function jsonFault(bytes: Uint8Array, maxDepth: number): string | undefined {
  const open: number[] = [];
  let expect: Expect = 'value';
  let at = 0;
  const invalid = (context: string, index = at) => `invalid character ${shown(bytes[index] as number)} ${context}`;

  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (WHITE.has(byte)) {
      at++;
      continue;
    }
    if (expect === 'separator' && open.length === 0) return invalid('after top-level value');
    const isObject = open.at(-1) === 0x7b;
    if (expect === 'separator') {
      if (byte === 0x2c) expect = isObject ? 'key' : 'value';
      else if (byte === (isObject ? 0x7d : 0x5d)) open.pop();
      else return invalid(isObject ? 'after object key:value pair' : 'after array element');
      at++;
    } else if (expect === 'colon') {
      if (byte !== 0x3a) return invalid('after object key');
      expect = 'value';
      at++;
    } else if ((expect === 'key or end' && byte === 0x7d) || (expect === 'value or end' && byte === 0x5d)) {
      open.pop();
      expect = 'separator';
      at++;
    } else if (expect === 'key' || expect === 'key or end') {
      if (byte !== QUOTE) return invalid('looking for beginning of object key string');
      const token = text(bytes, at);
      if (typeof token === 'string') return token;
      at = token;
      expect = 'colon';
    } else if (byte === 0x7b || byte === 0x5b) {
      open.push(byte);
      if (open.length > maxDepth) return invalid('exceeded max depth');
      expect = byte === 0x7b ? 'key or end' : 'value or end';
      at++;
    } else {
      const token = scalar(bytes, at);
      if (typeof token === 'string') return token;
      at = token;
      expect = 'separator';
    }
  }
  return expect === 'separator' && open.length === 0 ? undefined : END;
}

/** The index after the token, or the error. */
function scalar(bytes: Uint8Array, start: number): number | string {
  const byte = bytes[start] as number;
  if (byte === QUOTE) return text(bytes, start);
  if (byte === 0x2d || isDigit(byte)) return number(bytes, start);
  for (const word of ['true', 'false', 'null']) {
    if (byte !== word.charCodeAt(0)) continue;
    for (let i = 1; i < word.length; i++) {
      const found = bytes[start + i];
      if (found === undefined) return END;
      if (found !== word.charCodeAt(i)) {
        return `invalid character ${shown(found)} in literal ${word} (expecting '${word[i]}')`;
      }
    }
    return start + word.length;
  }
  return `invalid character ${shown(byte)} looking for beginning of value`;
}

function text(bytes: Uint8Array, start: number): number | string {
  for (let i = start + 1; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) return i + 1;
    if (byte < 0x20) return `invalid character ${shown(byte)} in string literal`;
    if (byte !== 0x5c) continue;
    const escaped = bytes[++i];
    if (escaped === undefined) return END;
    if (escaped === 0x75) {
      for (let digit = 0; digit < 4; digit++) {
        const hex = bytes[++i];
        if (hex === undefined) return END;
        if (!/[0-9a-fA-F]/.test(String.fromCharCode(hex))) {
          return `invalid character ${shown(hex)} in \\u hexadecimal character escape`;
        }
      }
    } else if (!'"\\/bfnrt'.includes(String.fromCharCode(escaped))) {
      return `invalid character ${shown(escaped)} in string escape code`;
    }
  }
  return END;
}

function number(bytes: Uint8Array, start: number): number | string {
  let i = start;
  const digits = (context: string): string | undefined => {
    const first = bytes[i];
    if (first === undefined) return END;
    if (!isDigit(first)) return `invalid character ${shown(first)} ${context}`;
    while (isDigit(bytes[i])) i++;
    return undefined;
  };
  if (bytes[i] === 0x2d) i++;
  if (bytes[i] === 0x30) i++;
  else {
    const fault = digits('in numeric literal');
    if (fault) return fault;
  }
  if (bytes[i] === 0x2e) {
    i++;
    const fault = digits('after decimal point in numeric literal');
    if (fault) return fault;
  }
  if (bytes[i] === 0x65 || bytes[i] === 0x45) {
    i++;
    if (bytes[i] === 0x2b || bytes[i] === 0x2d) i++;
    const fault = digits('in exponent of numeric literal');
    if (fault) return fault;
  }
  return i;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** A byte as Go quotes it. */
function shown(byte: number): string {
  if (byte === 0x27) return `'\\''`;
  if (byte === QUOTE) return `'"'`;
  const named = new Map([
    [0x07, '\\a'],
    [0x08, '\\b'],
    [0x09, '\\t'],
    [0x0a, '\\n'],
    [0x0b, '\\v'],
    [0x0c, '\\f'],
    [0x0d, '\\r'],
    [0x5c, '\\\\'],
  ]).get(byte);
  if (named) return `'${named}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  if (byte >= 0x80 && byte < 0xa1) return `'\\u${byte.toString(16).padStart(4, '0')}'`;
  return `'${String.fromCharCode(byte)}'`;
}
