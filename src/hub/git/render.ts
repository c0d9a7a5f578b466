// From the files of a commit to bundles with objects (spec 09 §4): plain YAML. Pure, but for the turns it gives to others between files.
// Guarantee: a bundle has the objects of one commit or none at all; what cannot be read is named with file and line, and nothing is pruned then.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { GitProblem } from '../../api/git-repo.ts';
import { apiVersionOf, groupVersionOf, type KubeObject, refText } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { sha256 } from '../../base/hash.ts';
import { deepFreeze, isObject } from '../../base/json.ts';
import { locateYamlDocuments, YamlError } from '../../base/yaml.ts';
import { inOrder } from '../revisions/order.ts';
import type { Propagation } from '../revisions/propagation.ts';
import { type FleetFile, readFleetFile } from './fleet-file.ts';
import { type BundleFiles, findBundles, nameOf } from './paths.ts';
import type { GitFile } from './repository.ts';

export interface RenderInput {
  readonly repo: string;
  /** The only namespace that objects may be in; undefined = any, and cluster-scoped ones too. */
  readonly namespace?: string;
  readonly targetNamespace?: string;
  readonly paths: readonly string[];
  readonly files: readonly GitFile[];
  readonly catalogue: Pick<LiveCatalogue, 'byKind' | 'unknown'>;
  readonly propagation: Propagation;
  readonly parsed: ParsedFiles;
  /** Lets others go first. */
  breathe(): Promise<void>;
}

export interface RepoBundle {
  readonly name: string;
  readonly directory: string;
  readonly options: FleetFile;
  /** undefined = it has problems, and its placement keeps what it has. */
  readonly objects?: readonly KubeObject[];
}

export interface RenderedRepo {
  readonly bundles: readonly RepoBundle[];
  readonly problems: readonly GitProblem[];
  readonly warnings: readonly GitProblem[];
}

export const MAX_BUNDLES = 500;
/** Of one manifest, in characters: reading YAML takes a second per half a megabyte. */
export const MAX_MANIFEST = 1024 * 1024;
const MAX_NAME = 53;

export async function render(input: RenderInput): Promise<RenderedRepo> {
  const found = findBundles(input.files, input.paths);
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
  for (const draft of drafts) problems.push(...draft.problems.map((each) => ({ bundle: draft.name, ...each })));
  return {
    bundles: drafts.map(({ name, directory, options, objects, problems: own }) => ({
      name,
      directory,
      options,
      ...(own.length > 0 ? {} : { objects: deepFreeze(objects.map(({ object }) => object).toSorted(inRevisionOrder)) }),
    })),
    problems,
    warnings,
  };
}

interface Draft {
  readonly name: string;
  readonly directory: string;
  readonly options: FleetFile;
  readonly objects: readonly Placed[];
  readonly problems: GitProblem[];
}

interface Placed {
  readonly object: KubeObject;
  readonly file: string;
  readonly line: number;
}

const orderedOf = ({ apiVersion, kind, metadata }: KubeObject) => ({
  ...groupVersionOf(apiVersion),
  kind,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  name: metadata.name ?? '',
});
const inRevisionOrder = (a: KubeObject, b: KubeObject): number => inOrder(orderedOf(a), orderedOf(b));

async function draftOf(files: BundleFiles, input: RenderInput, warnings: GitProblem[]): Promise<Draft> {
  const { directory, options: file, manifests } = files;
  const read =
    file === undefined
      ? { options: {}, problems: [], warnings: [] }
      : file.text === undefined
        ? { options: {}, problems: [unreadable(file)], warnings: [] }
        : readFleetFile(file.path, file.text);
  const { options } = read;
  const name = options.name ?? bundleName(input.repo, directory);
  warnings.push(...read.warnings.map((each) => ({ bundle: name, ...each })));
  const problems: GitProblem[] = [...read.problems, ...notPlain(files)];
  const documents: Placed[] = [];
  for (const manifest of manifests) {
    const { objects, problem } = objectsOf(manifest, input.parsed);
    if (problem === undefined) documents.push(...objects);
    else problems.push(problem);
    await input.breathe();
  }
  const scope = { ...input, options, known: definedIn(documents) };
  const objects = documents.flatMap((each) => {
    const placed = inItsNamespace(each, scope);
    if ('reason' in placed) problems.push(placed);
    else return [placed];
    return [];
  });
  if (objects.length === 0 && problems.length === 0) {
    const message = `directory "${directory === '' ? '.' : directory}" has no objects; what was placed from it stays`;
    problems.push({ reason: 'EmptyBundle', message });
  }
  return { name, directory, options, objects, problems };
}

const unreadable = ({ path, kind, size }: GitFile): GitProblem => ({
  file: path,
  reason: kind === 'link' ? 'SymbolicLink' : 'FileUnreadable',
  message:
    kind === 'link'
      ? 'symbolic links are not followed: put the file itself here'
      : `no text of at most ${MAX_MANIFEST} characters (${size} bytes)`,
});

/** Read as plain manifests these would place something else than was meant. */
function notPlain({ directory, files }: BundleFiles): readonly GitProblem[] {
  const prefix = directory === '' ? '' : `${directory}/`;
  const programs: readonly (readonly [RegExp, string])[] = [
    [/^kustomization(\.ya?ml)?$|^Kustomization$/, 'kustomize is not supported yet'],
    [/^Chart\.ya?ml$/, 'Helm charts are not supported yet'],
  ];
  return files.flatMap(({ path }) => {
    if (!path.startsWith(prefix)) return [];
    const program = programs.find(([pattern]) => pattern.test(nameOf(path)));
    return program === undefined ? [] : [{ file: path, reason: 'NotSupportedYet', message: program[1] }];
  });
}

// ---- names

/** `shop` and `apps/web` → `shop-apps-web`. Whatever is lost on the way to a name is told apart by a hash. */
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
    for (const placed of draft.objects) {
      const { group, kind, namespace = '', name } = orderedOf(placed.object);
      const key = [group, kind, namespace, name].join(' ');
      const first = owners.get(key);
      if (first === undefined) {
        owners.set(key, { draft, placed });
        continue;
      }
      const text = refText({ kind, ...(namespace === '' ? {} : { namespace }), name });
      const where = `${first.placed.file}:${first.placed.line}`;
      const message = `${text} is also in ${where}: only one bundle may have it, and only once`;
      draft.problems.push({ file: placed.file, line: placed.line, reason: 'DuplicateObject', message });
      if (first.draft !== draft)
        first.draft.problems.push({
          file: first.placed.file,
          line: first.placed.line,
          reason: 'DuplicateObject',
          message: `${text} is also in ${placed.file}:${placed.line}: only one bundle may have it`,
        });
    }
  }
}

// ---- manifests

interface Manifest {
  readonly documents: readonly { readonly value: unknown; readonly line: number }[];
  readonly error?: { readonly message: string; readonly line?: number };
}

/** What was parsed before, by the id of the content: a commit that changes one file of ten thousand parses one. */
export interface ParsedFiles {
  get(id: string): Manifest | undefined;
  set(id: string, manifest: Manifest): void;
}

function parse(text: string): Manifest {
  try {
    return { documents: locateYamlDocuments(text).map(({ value, line }) => ({ value, line })) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return {
      documents: [],
      error: { message: error.message, ...(error.line === undefined ? {} : { line: error.line }) },
    };
  }
}

function objectsOf(
  file: GitFile,
  parsed: ParsedFiles,
): { readonly objects: readonly Placed[]; readonly problem?: GitProblem } {
  if (file.kind !== 'file' || file.text === undefined || file.text.length > MAX_MANIFEST)
    return { objects: [], problem: unreadable(file) };
  const manifest = parsed.get(file.id) ?? parse(file.text);
  parsed.set(file.id, manifest);
  const { path } = file;
  const { error } = manifest;
  if (error !== undefined) {
    const at = error.line === undefined ? {} : { line: error.line };
    return { objects: [], problem: { file: path, ...at, reason: 'ManifestInvalid', message: error.message } };
  }
  const objects: Placed[] = [];
  for (const { value, line } of manifest.documents) {
    const items =
      isObject(value) && value['kind'] === 'List' && Array.isArray(value['items']) ? value['items'] : [value];
    for (const item of items) {
      if (!isManifest(item)) {
        const message = 'an object with apiVersion, kind and metadata.name is expected';
        return { objects: [], problem: { file: path, line, reason: 'ManifestInvalid', message } };
      }
      objects.push({ object: item, file: path, line });
    }
  }
  return { objects };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function isManifest(value: unknown): value is KubeObject {
  if (!isObject(value) || !isText(value['apiVersion']) || !isText(value['kind'])) return false;
  const { metadata } = value;
  return (
    isObject(metadata) &&
    isText(metadata['name']) &&
    (metadata['namespace'] === undefined || typeof metadata['namespace'] === 'string')
  );
}

// ---- namespaces

/** Custom kinds that a bundle brings along: whether they are namespaced. */
function definedIn(documents: readonly Placed[]): ReadonlyMap<string, boolean> {
  const known = new Map<string, boolean>();
  for (const { object } of documents) {
    if (object.kind !== 'CustomResourceDefinition' || !isObject(object.spec)) continue;
    const { group, names, scope } = object.spec;
    if (isObject(names)) known.set(`${String(group)}/${String(names['kind'])}`, scope === 'Namespaced');
  }
  return known;
}

interface Scope extends Pick<RenderInput, 'namespace' | 'targetNamespace' | 'catalogue' | 'propagation'> {
  readonly options: FleetFile;
  readonly known: ReadonlyMap<string, boolean>;
}

/** The object where it belongs, or why it must not be placed. */
function inItsNamespace({ object, file, line }: Placed, scope: Scope): Placed | GitProblem {
  const { group, version } = groupVersionOf(object.apiVersion);
  const { kind, metadata } = object;
  const what = refText({ kind, name: metadata.name ?? '' });
  const refuse = (reason: string, message: string): GitProblem => ({ file, line, reason, message });
  if (!scope.propagation.allowsKind({ group, version, kind }))
    return refuse('KindRefused', `${apiVersionOf(group, version)} ${kind} is never placed on clusters`);
  // Taken for cluster-scoped while its API server is away, a namespaced object would be placed somewhere else.
  if (scope.catalogue.unknown?.includes(object.apiVersion))
    return refuse('KindUnknown', `${what}: the API server of ${object.apiVersion} on the hub does not answer`);
  const isKnown = scope.catalogue.byKind(object.apiVersion, kind)?.namespaced ?? scope.known.get(`${group}/${kind}`);
  const given = metadata.namespace === '' ? undefined : metadata.namespace;
  const isNamespaced = isKnown ?? given !== undefined;
  const forced = scope.targetNamespace ?? scope.options.namespace;
  if (!isNamespaced) {
    if (scope.namespace !== undefined || forced !== undefined) {
      const only = scope.namespace ?? forced;
      const why = isKnown === undefined ? 'is of a kind that the hub does not know' : 'is cluster-scoped';
      return refuse('ClusterScoped', `${what} ${why}: this bundle may only have objects of namespace "${only}"`);
    }
    if (object.kind === 'Namespace' && !mayUse(metadata.name ?? '', scope))
      return refuse('NamespaceRefused', `${what} belongs to the cluster itself`);
    return { object: withNamespace(object, undefined), file, line };
  }
  if (scope.namespace !== undefined && isKnown === undefined)
    return refuse('KindUnknown', `${what}: the hub does not know ${object.apiVersion} ${kind}; install its CRD there`);
  const namespace = forced ?? given ?? scope.options.defaultNamespace ?? scope.namespace ?? 'default';
  if (scope.namespace !== undefined && namespace !== scope.namespace)
    return refuse(
      'NamespaceRefused',
      `${what} is in namespace "${namespace}": a GitRepo of namespace "${scope.namespace}" may only place objects there`,
    );
  if (!mayUse(namespace, scope))
    return refuse('NamespaceRefused', `namespace "${namespace}" of ${what} is never placed`);
  return { object: withNamespace(object, namespace), file, line };
}

/** The namespaces of the system stay as they are. `default` is one that a file must be able to name. */
const mayUse = (namespace: string, { propagation }: Scope): boolean =>
  namespace === 'default' || propagation.allowsNamespace(namespace);

function withNamespace(object: KubeObject, namespace: string | undefined): KubeObject {
  if (object.metadata.namespace === namespace) return object;
  const { namespace: _former, ...metadata } = object.metadata;
  return { ...object, metadata: namespace === undefined ? metadata : { ...metadata, namespace } };
}

/** Sorted by bundle, file and line. */
export const problemsInOrder = (problems: readonly GitProblem[]): readonly GitProblem[] =>
  problems.toSorted(
    by(({ bundle = '', file = '', line = 0 }) => `${bundle}\n${file}\n${String(line).padStart(9, '0')}`),
  );
