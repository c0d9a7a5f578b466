// Flags about Git repositories, for all commands that run the hub's controllers.
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { wallClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { gitClient } from './git/git-client.ts';
import { renderPrograms } from './git/render-programs.ts';
import { removeLeftovers } from './git/repositories.ts';
import type { HubOptions } from './parts.ts';

export interface GitFlags {
  readonly gitDir?: string;
  readonly allowFileRepositories?: boolean;
}

export const following = (command: Command): Command =>
  command
    .option('--git-dir <directory>', 'where Git repositories are kept, so that a restart needs no network')
    .option(
      '--allow-file-repositories',
      'allow file:// URLs in GitRepos: users who may create a GitRepo can then read any repository on this machine',
    );

/**
 * `usual`: the default directory; without any, a temporary one that is removed at the end. It is created when the first
 * repository is read.
 */
export async function gitOf(
  { gitDir, allowFileRepositories = false }: GitFlags,
  usual?: string,
): Promise<NonNullable<HubOptions['git']> & AsyncDisposable> {
  const kept = gitDir ?? usual;
  const directory = resolve(kept ?? join(tmpdir(), `flotilla-git-${systemRandom.uuid()}`));
  await removeLeftovers(directory, wallClock.now());
  return {
    client: gitClient({ directory, allowFiles: allowFileRepositories }),
    renderer: renderPrograms({ directory }),
    breathe: () => new Promise<void>((done) => setImmediate(done)),
    async [Symbol.asyncDispose]() {
      if (kept === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}
