// Parses manifests to objects with their namespaces, or reports with file and line why one must not be placed. Pure.
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { GitProblem } from '../../api/git-repo.ts';
import { annotations } from '../../api/names.ts';
import { apiVersionOf, groupVersionOf, type KubeObject, refText } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';
import { locateYamlDocuments, YamlError } from '../../base/yaml.ts';
import type { Propagation } from '../revisions/propagation.ts';
import type { GitFile } from './repository.ts';

/** The maximum size of one manifest, in characters: parsing half a megabyte of YAML takes a second. */
export const MAX_MANIFEST = 1024 * 1024;

/** The maximum size of a program's output. */
const MAX_OUTPUT = 8 * 1024 * 1024;

export interface Placed {
  readonly object: KubeObject;
  readonly file: string;
  /** Absent = a program rendered it from several files. */
  readonly line?: number;
}

export const unreadable = ({ path, kind, size }: Pick<GitFile, 'path' | 'kind' | 'size'>): GitProblem => ({
  file: path,
  reason: kind === 'link' ? 'SymbolicLink' : 'FileUnreadable',
  message:
    kind === 'link'
      ? 'symbolic links are not followed: put the file itself here'
      : `no text of at most ${MAX_MANIFEST} characters (${size} bytes)`,
});

interface Manifest {
  readonly documents: readonly { readonly value: unknown; readonly line: number }[];
  readonly error?: { readonly message: string; readonly line?: number };
}

/** Parsed files by the id of their content: a commit that changes one file of ten thousand parses one. */
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
      error: { message: error.detail, ...(error.line === undefined ? {} : { line: error.line }) },
    };
  }
}

/** `apps/web.yaml:7: …` */
export const yamlProblem = (path: string, { line, detail }: YamlError): string =>
  `${path}${line === undefined ? '' : `:${line}`}: ${detail}`;

export function objectsOf(
  file: GitFile,
  parsed: ParsedFiles,
  from: 'repository' | 'program' = 'repository',
): { readonly objects: readonly Placed[]; readonly problem?: GitProblem } {
  const limit = from === 'program' ? MAX_OUTPUT : MAX_MANIFEST;
  if (file.kind !== 'file' || file.text === undefined || file.text.length > limit)
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
    // A template rendered nothing but a comment.
    if (from === 'program' && value === null) continue;
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

/** The custom kinds that a bundle defines itself: whether they are namespaced. */
export function definedIn(documents: readonly Placed[]): ReadonlyMap<string, boolean> {
  const known = new Map<string, boolean>();
  for (const { object } of documents) {
    if (object.kind !== 'CustomResourceDefinition' || !isObject(object.spec)) continue;
    const { group, names, scope } = object.spec;
    if (isObject(names)) known.set(`${String(group)}/${String(names['kind'])}`, scope === 'Namespaced');
  }
  return known;
}

export interface Scope {
  /** The only namespace that objects may be in; undefined = any, and cluster-scoped objects too. */
  readonly namespace?: string;
  readonly targetNamespace?: string;
  readonly catalogue: Pick<LiveCatalogue, 'byKind' | 'unknown'>;
  readonly propagation: Propagation;
  readonly options: {
    readonly namespace?: string;
    readonly defaultNamespace?: string;
    readonly createNamespace?: boolean;
  };
  readonly known: ReadonlyMap<string, boolean>;
}

/** The object with its namespace, or why it must not be placed. */
export function inItsNamespace({ object, file, line }: Placed, scope: Scope): Placed | GitProblem {
  const { group, version } = groupVersionOf(object.apiVersion);
  const { kind, metadata } = object;
  const what = refText({ kind, name: metadata.name ?? '' });
  const at = { file, ...(line === undefined ? {} : { line }) };
  const refuse = (reason: string, message: string): GitProblem => ({ ...at, reason, message });
  if (!scope.propagation.allowsKind({ group, version, kind }))
    return refuse('KindRefused', `${apiVersionOf(group, version)} ${kind} is never placed on clusters`);
  // While the API server of its kind does not answer, a namespaced object would look cluster-scoped and be placed
  // elsewhere.
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
    return { object: withNamespace(object, undefined), ...at };
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
  return { object: withNamespace(object, namespace), ...at };
}

/** System namespaces are protected. Files must be able to name `default`. */
const mayUse = (namespace: string, { propagation }: Scope): boolean =>
  namespace === 'default' || propagation.allowsNamespace(namespace);

/**
 * Annotates the objects whose namespace comes from options, so that the namespace is created if missing; not if the
 * bundle contains it.
 */
export function creatingNamespaces(placed: readonly Placed[], { namespace, targetNamespace, options }: Scope) {
  const own = targetNamespace ?? options.namespace ?? options.defaultNamespace;
  if (namespace !== undefined || own === undefined || own === 'default' || options.createNamespace === false)
    return placed;
  const isIt = ({ object }: Placed) =>
    object.apiVersion === 'v1' && object.kind === 'Namespace' && object.metadata.name === own;
  if (placed.some(isIt)) return placed;
  return placed.map((each): Placed => {
    const { object } = each;
    if (object.metadata.namespace !== own) return each;
    const all = { ...object.metadata.annotations, [annotations.createNamespace]: 'true' };
    return { ...each, object: { ...object, metadata: { ...object.metadata, annotations: all } } };
  });
}

function withNamespace(given: KubeObject, namespace: string | undefined): KubeObject {
  const object = withoutMark(given);
  if (object.metadata.namespace === namespace) return object;
  const { namespace: _former, ...metadata } = object.metadata;
  return { ...object, metadata: namespace === undefined ? metadata : { ...metadata, namespace } };
}

/** The variant annotation is ours: one from a repository would hide an object. */
function withoutMark(object: KubeObject): KubeObject {
  const { [annotations.variant]: mark, ...kept } = object.metadata.annotations ?? {};
  return mark === undefined ? object : { ...object, metadata: { ...object.metadata, annotations: kept } };
}
