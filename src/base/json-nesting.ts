// The nesting depth of JSON, computed without recursion: recursive code is safe afterwards.

/**
 * The maximum nesting depth in every format. A real server allows 10,000. Ours recurses in more places (defaults,
 * pruning, copies) on a small stack, and V8 ends the whole process if a regular expression is compiled near the end of
 * the stack. No Kubernetes object is that deep.
 */
export const MAX_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether arrays and objects are nested deeper than this. The text need not be valid JSON. */
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

/** The same for a value. */
export function isDeeper(value: unknown, levels: number): boolean {
  let here: readonly unknown[] = [value];
  for (let depth = 0; ; depth++) {
    const containers = here.filter((each): each is object => typeof each === 'object' && each !== null);
    if (containers.length === 0) return false;
    if (depth === levels) return true;
    here = containers.flatMap((each) => Object.values(each));
  }
}
