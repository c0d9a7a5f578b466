// Renders the files of a commit to bundles with objects (spec 09 §4). Pure, except for programs and for yielding
// between files. Guarantee: a bundle has the objects of one commit or none; everything that cannot be read is reported
// with file and line, and then nothing is pruned.
import type { GitProblem } from '../../api/git-repo.ts';
import { annotations } from '../../api/names.ts';
import { groupVersionOf, type KubeObject, refText } from '../../api/object.ts';
import { by, byText } from '../../base/compare.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, deepFreeze } from '../../base/json.ts';
import { inOrder } from '../revisions/order.ts';
import type { VariantBook } from '../revisions/variants.ts';
import { CHART, contentIn, type Outputs } from './bundle-content.ts';
import { type Fleet, objectsOfAll, variantsOf } from './bundle-variants.ts';
import { cyclesIn } from './fleet-dependencies.ts';
import { type FleetFile, readFleetFile } from './fleet-file.ts';
import {
  creatingNamespaces,
  definedIn,
  inItsNamespace,
  type ParsedFiles,
  type Placed,
  type Scope,
  unreadable,
} from './manifests.ts';
import { type BundleFiles, type Found, findBundles, isRead, isWithin, nameOf } from './paths.ts';
import { KUSTOMIZATION } from './references.ts';
import type { Renderer, RenderReason } from './renderer.ts';
import type { GitFile } from './repository.ts';

export interface RenderInput extends Omit<Scope, 'options' | 'known'> {
  readonly repo: string;
  readonly paths: readonly string[];
  readonly files: readonly GitFile[];
  /** Reads the same files again, including the text of those that a program needs. */
  readAgain?(reads: (path: string) => boolean): Promise<readonly GitFile[]>;
  readonly fleet: Fleet;
  readonly parsed: ParsedFiles;
  readonly outputs: Outputs;
  readonly renderer?: Renderer | undefined;
  /** Yields to the event loop. */
  breathe(): Promise<void>;
}

export interface RepoBundle {
  readonly name: string;
  readonly directory: string;
  readonly options: FleetFile;
  /** undefined = it has problems, and its placement keeps its content. */
  readonly objects?: readonly KubeObject[];
  readonly variants?: VariantBook;
}

export interface RenderedRepo {
  readonly bundles: readonly RepoBundle[];
  readonly problems: readonly GitProblem[];
  readonly warnings: readonly GitProblem[];
  /** A program was missing or too slow: rendering the same commit again may succeed. */
  readonly mayPass?: true;
  /** The content depends on which clusters exist, and on their labels. */
  readonly usesClusters?: true;
}

export const MAX_BUNDLES = 500;
const MAX_NAME = 53;

export async function render(input: RenderInput): Promise<RenderedRepo> {
  const found = await foundIn(input);
  const problems = [...found.problems];
  const warnings: GitProblem[] = input.files
    .filter(({ kind }) => kind === 'module')
    .map(({ path }) => ({ file: path, reason: 'SubmoduleIgnored', message: 'sub-modules are not read' }));
  if (found.bundles.length === 0 && problems.length === 0)
    problems.push({
      reason: 'NoBundles',
      message: 'the repository has no manifest in these paths; nothing is removed',
    });
  if (found.bundles.length > MAX_BUNDLES) {
    const message = `the repository has ${found.bundles.length} bundles, at most ${MAX_BUNDLES} are supported`;
    return { bundles: [], problems: [{ reason: 'TooManyBundles', message }], warnings };
  }
  const drafts: Draft[] = [];
  for (const files of found.bundles) {
    drafts.push(await draftOf(files, input, warnings));
    await input.breathe();
  }
  refuseDoubles(drafts);
  for (const { bundle, ...problem } of cyclesIn(drafts))
    for (const draft of drafts) if (draft.name === bundle) draft.problems.push({ ...whereIn(draft), ...problem });
  for (const draft of drafts) problems.push(...draft.problems.map((each) => ({ bundle: draft.name, ...each })));
  return {
    bundles: drafts.map(({ name, directory, options, contents, book, problems: own }) => ({
      name,
      directory,
      options,
      ...(own.length > 0
        ? {}
        : {
            objects: deepFreeze(objectsOfAll(contents, book).toSorted(inRevisionOrder)),
            ...(book === undefined ? {} : { variants: book }),
          }),
    })),
    problems,
    ...(drafts.some(({ mayPass }) => mayPass) ? { mayPass: true } : {}),
    warnings: [...new Map(warnings.map((each) => [canonicalJson(each), each])).values()],
    ...(drafts.some(({ options }) => options.helm?.values !== undefined || options.targetCustomizations !== undefined)
      ? { usesClusters: true }
      : {}),
  };
}

/** A chart or a kustomization may need any file of its bundle. */
async function foundIn({ files, paths, readAgain }: RenderInput): Promise<Found> {
  const found = findBundles(files, paths);
  const directories = found.bundles.filter(usesProgram).map(({ directory }) => directory);
  if (directories.length === 0 || readAgain === undefined) return found;
  const all = await readAgain((path) => isRead(path) || directories.some((directory) => isWithin(path, directory)));
  return findBundles(all, paths);
}

const usesProgram = ({ files }: BundleFiles): boolean =>
  files.some(({ path }) => CHART.test(nameOf(path)) || KUSTOMIZATION.test(nameOf(path)));

interface Draft {
  readonly name: string;
  readonly directory: string;
  readonly options: FleetFile;
  /** The path of its fleet.yaml. */
  readonly file?: string;
  /** By variant. */
  readonly contents: ReadonlyMap<string, readonly Placed[]>;
  readonly book?: VariantBook;
  readonly problems: GitProblem[];
  /** One of the problems, perhaps only for some clusters, is not in the files. */
  readonly mayPass: boolean;
}

const PASSING: ReadonlySet<string> = new Set<RenderReason>(['ProgramMissing', 'TimedOut']);

const whereIn = ({ file }: Draft) => (file === undefined ? {} : { file });

const orderedOf = ({ apiVersion, kind, metadata }: KubeObject) => ({
  ...groupVersionOf(apiVersion),
  kind,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name ?? '',
});
const markOf = ({ metadata }: KubeObject): string => metadata.annotations?.[annotations.variant] ?? '';
const inRevisionOrder = (a: KubeObject, b: KubeObject): number =>
  inOrder(orderedOf(a), orderedOf(b)) || byText(markOf(a), markOf(b));

async function draftOf(files: BundleFiles, input: RenderInput, warnings: GitProblem[]): Promise<Draft> {
  const { directory, options: file } = files;
  const read =
    file === undefined
      ? { options: {}, problems: [], warnings: [] }
      : file.text === undefined
        ? { options: {}, problems: [unreadable(file)], warnings: [] }
        : readFleetFile(file.path, file.text);
  const { options } = read;
  const name = options.name ?? bundleName(input.repo, directory);
  const warn = (all: readonly GitProblem[]) => warnings.push(...all.map((each) => ({ bundle: name, ...each })));
  warn(read.warnings);
  const where = file === undefined ? {} : { file: file.path };
  if (read.problems.length > 0)
    return { name, directory, options, ...where, contents: new Map(), problems: [...read.problems], mayPass: false };
  const creating = options.createNamespace === undefined ? {} : { createNamespace: options.createNamespace };
  const { contents, book, problems, ...found } = await variantsOf(options, input.fleet, async (custom, labels) => {
    const made = await contentIn({ ...input, name, files, options: custom, labels });
    warn(made.warnings);
    const placed = inNamespaces(made.objects, {
      ...input,
      options: { ...custom, ...creating },
      known: definedIn(made.objects),
    });
    const own = [...made.problems, ...placed.problems, ...doublesIn(placed.objects)];
    if (own.length === 0 && placed.objects.length === 0) {
      const message = `directory "${directory === '' ? '.' : directory}" has no objects; what was placed from it stays`;
      own.push({ reason: 'EmptyBundle', message });
    }
    return { objects: placed.objects, problems: own };
  });
  warn(found.warnings.map((each) => ({ ...each, reason: 'RenderFailed' })));
  const books = book === undefined ? {} : { book };
  const mayPass = [...problems, ...found.warnings].some(({ reason }) => PASSING.has(reason));
  return { name, directory, options, ...where, contents, ...books, problems: [...problems], mayPass };
}

function inNamespaces(objects: readonly Placed[], scope: Scope) {
  const problems: GitProblem[] = [];
  const placed = objects.flatMap((each) => {
    const found = inItsNamespace(each, scope);
    if (!('reason' in found)) return [found];
    problems.push(found);
    return [];
  });
  return { objects: creatingNamespaces(placed, scope), problems };
}

// ---- names

/** `shop` and `apps/web` → `shop-apps-web`. If characters are lost in the name, a hash makes it unique. */
export function bundleName(repo: string, directory: string): string {
  const wanted = directory === '' ? repo : `${repo}-${directory.replaceAll('/', '-')}`;
  const safe = wanted
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  if (safe === wanted && safe.length <= MAX_NAME) return safe;
  const tail = sha256(wanted).slice(0, 8);
  return `${safe.slice(0, MAX_NAME - 1 - tail.length).replace(/-$/, '')}-${tail}`.replace(/^-/, 'b-');
}

function refuseDoubles(drafts: readonly Draft[]): void {
  const names = new Map<string, Draft>();
  const owners = new Map<string, { readonly draft: Draft; readonly placed: Placed }>();
  for (const draft of drafts) {
    const other = names.get(draft.name);
    if (other === undefined) names.set(draft.name, draft);
    else {
      const message = `directories "${other.directory}" and "${draft.directory}" have one bundle name: set name in a fleet.yaml`;
      for (const each of [other, draft]) each.problems.push({ reason: 'DuplicateBundle', message });
    }
    for (const placed of oncePerKey(draft.contents)) {
      const key = identityOf(placed);
      const first = owners.get(key);
      if (first === undefined) {
        owners.set(key, { draft, placed });
        continue;
      }
      const text = textOf(placed);
      for (const [each, at, other] of [
        [draft, placed, first.placed],
        [first.draft, first.placed, placed],
      ] as const) {
        const message = `${text} is also in ${placeOf(other)}: only one bundle may have it`;
        each.problems.push({ ...whereOf(at), reason: 'DuplicateObject', message });
      }
    }
  }
}

const identityOf = ({ object }: Placed): string => {
  const { group, kind, namespace = '', name } = orderedOf(object);
  return [group, kind, namespace, name].join(' ');
};
const textOf = ({ object }: Placed): string => {
  const { kind, namespace, name } = orderedOf(object);
  return refText({ kind, ...(namespace === undefined ? {} : { namespace }), name });
};
const whereOf = ({ file, line }: Placed) => ({ file, ...(line === undefined ? {} : { line }) });
const placeOf = ({ file, line }: Placed): string => (line === undefined ? file : `${file}:${line}`);

/** Variants share most of their objects. */
function oncePerKey(contents: Draft['contents']): readonly Placed[] {
  const all = new Map<string, Placed>();
  for (const placed of contents.values())
    for (const each of placed) if (!all.has(identityOf(each))) all.set(identityOf(each), each);
  return [...all.values()];
}

/** Duplicates within one bundle. */
function doublesIn(objects: readonly Placed[]): readonly GitProblem[] {
  const known = new Map<string, Placed>();
  return objects.flatMap((placed) => {
    const first = known.get(identityOf(placed));
    if (first === undefined) {
      known.set(identityOf(placed), placed);
      return [];
    }
    const message = `${textOf(placed)} is also in ${placeOf(first)}: only one bundle may have it, and only once`;
    return [{ ...whereOf(placed), reason: 'DuplicateObject', message }];
  });
}

/** Sorted by bundle, file and line. */
export const problemsInOrder = (problems: readonly GitProblem[]): readonly GitProblem[] =>
  problems.toSorted(
    by(({ bundle = '', file = '', line = 0 }) => `${bundle}\n${file}\n${String(line).padStart(9, '0')}`),
  );
