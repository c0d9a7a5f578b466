// How deep a test run goes and which seeds it draws. `npm test` is the gate: every kind of proof, with seeds that change with the commit.
// `npm run proof` runs the same suites at full depth (FLOTILLA_DEPTH=full).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const DEPTH = 'FLOTILLA_DEPTH';
export const SEED = 'FLOTILLA_TEST_SEED';

const root = resolve(import.meta.dirname, '../..');

export const isFull: boolean = process.env[DEPTH] === 'full';

/** The seed of this run, which every rotating draw starts from: FLOTILLA_TEST_SEED, else the first digits of the commit. */
export const testSeed: number = seedOf(process.env[SEED], commit('HEAD'));

export function seedOf(asked: string | undefined, hash: string | undefined): number {
  if (asked !== undefined && asked !== '') {
    if (!/^\d{1,9}$/.test(asked)) throw new Error(`${SEED} must be a number of at most nine digits, not "${asked}"`);
    return Number(asked);
  }
  // Outside of a git checkout there is no commit.
  return hash === undefined ? 1 : Number.parseInt(hash.slice(0, 6), 16);
}

/** The full hash of a revision; undefined where git does not know it. */
export function commit(revision: string): string | undefined {
  return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`)?.trim();
}

/** The commit that docs/proof.md proves; undefined where there is no such page or git does not have the commit (a shallow clone). */
export function provenCommit(): string | undefined {
  try {
    const [, hash] = /^Commit: `([0-9a-f]{7,40})`/m.exec(readFileSync(join(root, PROOF_PAGE), 'utf8')) ?? [];
    return hash === undefined ? undefined : commit(hash);
  } catch {
    return undefined;
  }
}

export const PROOF_PAGE = 'docs/proof.md';

/** Files that differ from this commit, local changes included. */
export const changedSince = (hash: string): readonly string[] | undefined =>
  git('diff', '--name-only', hash)?.split('\n').filter(Boolean);

export function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}
