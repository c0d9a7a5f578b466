// IP addresses as bytes, for certificates.
import { isIPv4, isIPv6 } from 'node:net';

/** 4 or 16 bytes, or undefined if the text is not an address. */
export function addressBytes(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const words = wordsOf(text);
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function wordsOf(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number);
    return [(a! << 8) | b!, (c! << 8) | d!];
  });
}
