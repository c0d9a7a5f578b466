// How deep JSON text is nested, found without building anything: whoever walks the parsed value recursively is safe afterwards.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True when arrays and objects are nested in more than so many levels. The text need not be valid JSON. */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > levels) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
