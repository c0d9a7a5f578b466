// The ids of docs/known-differences.md: a test that lets ours differ from a real server names the one that says why.
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../docs/known-differences.md', import.meta.url), 'utf8');

export const knownDifferences: readonly string[] = [...text.matchAll(/^\| `([\w-]+)`/gm)].map(([, id]) => id as string);
