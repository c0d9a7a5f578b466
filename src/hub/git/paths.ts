// Which directories of a repository are bundles, and which files belong to each (spec 09 §4). Pure. Guarantee: a file
// belongs to at most one bundle, and no path leads out of the repository.
import type { GitProblem } from '../../api/git-repo.ts';
import { by } from '../../base/compare.ts';
import type { GitFile } from './repository.ts';

export interface BundleFiles {
  /** Without leading or trailing slashes; empty = the root. */
  readonly directory: string;
  readonly options?: GitFile;
  /** Manifests, sorted by path. */
  readonly manifests: readonly GitFile[];
  /** All files of the directory, except those of bundles below it. */
  readonly files: readonly GitFile[];
}

export interface Found {
  readonly bundles: readonly BundleFiles[];
  readonly problems: readonly GitProblem[];
}

const MANIFEST = /\.(ya?ml|json)$/;
const OPTIONS = /^fleet\.ya?ml$/;
export const IGNORE_FILE = '.fleetignore';

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const directoryOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
export const relativeTo = (directory: string, path: string): string =>
  directory === '' ? path : path.slice(directory.length + 1);
const isHidden = (path: string): boolean => path.split('/').some((part) => part.startsWith('.'));
export const isWithin = (path: string, directory: string): boolean =>
  directory === '' || path === directory || path.startsWith(`${directory}/`);

/** Files whose text is needed to find and render bundles. */
export const isRead = (path: string): boolean =>
  nameOf(path) === IGNORE_FILE ? !isHidden(directoryOf(path)) : MANIFEST.test(path) && !isHidden(path);

/** `./a//b/` → `a/b`; undefined = it leads out of the repository. */
export function normalPath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
}

export function findBundles(all: readonly GitFile[], paths: readonly string[]): Found {
  const problems: GitProblem[] = [];
  const shown = all.filter(({ path }) => !isHidden(path));
  const directories = directoriesOf(shown);
  const roots = new Set<string>();
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const normal = normalPath(path);
    if (normal === undefined) {
      problems.push({ reason: 'PathInvalid', message: `path "${path}" leads out of the repository` });
      continue;
    }
    const pattern = globOf(normal);
    const matching = directories.filter((each) => pattern.test(each));
    for (const each of matching) roots.add(each);
    if (matching.length === 0)
      problems.push({ reason: 'PathNotFound', message: `path "${path}" matches no directory of the repository` });
  }
  const withOptions = shown.filter(({ path }) => OPTIONS.test(nameOf(path))).map(({ path }) => directoryOf(path));
  const heads = new Set([
    ...roots,
    ...withOptions.filter((directory) => [...roots].some((root) => isWithin(directory, root))),
  ]);
  const isIgnored = ignoring(all);
  const owners = new Map<string, GitFile[]>([...heads].map((head) => [head, []]));
  for (const file of shown) {
    if (isIgnored(file.path)) continue;
    const owner = ownerOf(file.path, heads);
    if (owner !== undefined) owners.get(owner)?.push(file);
  }
  const bundles = [...owners].flatMap(([directory, files]): BundleFiles[] => {
    const isOptions = ({ path }: GitFile) => directoryOf(path) === directory && OPTIONS.test(nameOf(path));
    const options = files.filter(isOptions).toSorted(by(({ path }) => path))[0];
    const rest = files.filter((file) => !isOptions(file)).toSorted(by(({ path }) => path));
    const manifests = rest.filter(({ path }) => MANIFEST.test(path));
    if (options === undefined && manifests.length === 0) return [];
    return [{ directory, ...(options === undefined ? {} : { options }), manifests, files: rest }];
  });
  return { bundles: bundles.toSorted(by(({ directory }) => directory)), problems };
}

/** The deepest bundle directory that contains it. */
function ownerOf(path: string, heads: ReadonlySet<string>): string | undefined {
  for (let directory = directoryOf(path); ; directory = directoryOf(directory)) {
    if (heads.has(directory)) return directory;
    if (directory === '') return undefined;
  }
}

function directoriesOf(files: readonly GitFile[]): readonly string[] {
  const directories = new Set(['']);
  for (const { path } of files)
    for (let each = directoryOf(path); each !== '' && !directories.has(each); each = directoryOf(each))
      directories.add(each);
  return [...directories].toSorted(by((each) => each));
}

/** `*` and `?` match within a name. Not a regular expression, because one from a repository could take forever. */
function globOf(pattern: string): { test(path: string): boolean } {
  const parts = pattern.split('/');
  return {
    test(path) {
      const names = path.split('/');
      return names.length === parts.length && parts.every((part, at) => matchesName(part, names[at] ?? ''));
    },
  };
}

/** Only the last star is backtracked, so the time is bounded by the product of the lengths. */
function matchesName(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = n;
    } else if (pattern[p] === '?' || (p < pattern.length && pattern[p] === name[n])) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** The patterns of .fleetignore files: a name at any depth below the file, or a path from it. */
function ignoring(all: readonly GitFile[]): (path: string) => boolean {
  const rules = all
    .filter(({ path, text }) => nameOf(path) === IGNORE_FILE && text !== undefined)
    .flatMap(({ path, text = '' }) =>
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => ({
          directory: directoryOf(path),
          hasSlash: line.replace(/\/+$/, '').includes('/'),
          pattern: globOf(line.replace(/^\/+|\/+$/g, '')),
        })),
    );
  if (rules.length === 0) return () => false;
  return (path) =>
    rules.some(({ directory, hasSlash, pattern }) => {
      if (!isWithin(path, directory)) return false;
      const parts = path.slice(directory === '' ? 0 : directory.length + 1).split('/');
      return hasSlash
        ? parts.some((_, end) => pattern.test(parts.slice(0, end + 1).join('/')))
        : parts.some((part) => pattern.test(part));
    });
}
