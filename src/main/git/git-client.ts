// Uses the git program if it is on PATH, else a library that is loaded on demand.
import { delimiter, join } from 'node:path';
import type { GitClient } from '../../hub/git/repository.ts';
import { gitProgram } from './git-program.ts';
import { exists, type GitClientOptions, repositoriesIn } from './repositories.ts';

export interface EitherOptions extends GitClientOptions {
  /** Where git is searched for; default: PATH. */
  readonly path?: string;
}

export function gitClient(options: EitherOptions): GitClient {
  const repositories = repositoriesIn(options.directory);
  const program = gitProgram(options, repositories);
  let library: Promise<GitClient> | undefined;
  /** Checked on each call, because git may be installed while the hub runs. */
  const client = async (): Promise<GitClient> => {
    if (await isOnPath('git', options.path ?? process.env['PATH'] ?? '')) return program;
    library ??= import('./git-library.ts').then(({ gitLibrary }) => gitLibrary(options, repositories));
    return library;
  };
  return {
    fetch: async (...args) => (await client()).fetch(...args),
    kept: async (...args) => (await client()).kept(...args),
    files: async (...args) => (await client()).files(...args),
  };
}

async function isOnPath(program: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter)) if (folder !== '' && (await exists(join(folder, program)))) return true;
  return false;
}
