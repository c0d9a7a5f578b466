// Injected randomness and identifiers, so that a world is reproducible from its seed.
import { randomBytes, randomUUID } from 'node:crypto';

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A separate stream for one actor: drawing from it does not affect the others. */
  fork(label: string): Random;
  uuid(): string;
}

export const systemRandom: Random = {
  next: () => randomBytes(4).readUInt32LE() / 2 ** 32,
  fork: () => systemRandom,
  uuid: () => randomUUID(),
};

/** A reproducible stream (mulberry32). Equal seeds give equal streams on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const hex = (digits: number) => {
    let text = '';
    while (text.length < digits) text += Math.floor(next() * 16).toString(16);
    return text;
  };
  return {
    next,
    fork: (label) => seededRandom(hashText(`${seed}/${label}`)),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'[Math.floor(next() * 4)]}${hex(3)}-${hex(12)}`,
  };
}

// FNV-1a: sufficient to distinguish labels.
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
