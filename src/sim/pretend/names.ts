// Names that are a function of what they name, so that a second creation gets AlreadyExists instead of a duplicate.

import type { PodTemplate } from '../../api/builtin/shapes.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';

// No vowels and no 0, 1, 3: names that spell no words, as Kubernetes' own generated ones.
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Letters that are safe in names, from a hash of the text. */
export function lettersOf(text: string, length: number): string {
  const hex = sha256(text);
  let letters = '';
  for (let i = 0; i < length; i++)
    letters += LETTERS[Number.parseInt(hex.slice(i * 4, i * 4 + 4), 16) % LETTERS.length];
  return letters;
}

const hashes = new WeakMap<PodTemplate, string>();

/** The same for equal templates. `collisions` moves it away from a name that is taken. */
export function templateHash(template: PodTemplate, collisions = 0): string {
  if (collisions > 0) return lettersOf(`${collisions}/${canonicalJson(template)}`, 10);
  const known = hashes.get(template);
  if (known !== undefined) return known;
  const hash = lettersOf(canonicalJson(template), 10);
  if (Object.isFrozen(template)) hashes.set(template, hash);
  return hash;
}

const LONGEST_STEM = 58;

/** The name of the k-th Pod of a controller that does not number its Pods. */
export const podName = (owner: string, k: number): string =>
  `${owner.slice(0, LONGEST_STEM - 1)}-${lettersOf(`${owner}/${k}`, 5)}`;

/** The first `count` names of a controller's Pods that are not taken. */
export function freePodNames(owner: string, count: number, taken: ReadonlySet<string>): readonly string[] {
  const names: string[] = [];
  for (let k = 0; names.length < count; k++) {
    const name = podName(owner, k);
    // Five letters may come out twice for two k.
    if (!taken.has(name) && !names.includes(name)) names.push(name);
  }
  return names;
}

/** A number below `limit` that follows from the text. */
export const numberOf = (text: string, limit: number): number => Number.parseInt(sha256(text).slice(0, 12), 16) % limit;
