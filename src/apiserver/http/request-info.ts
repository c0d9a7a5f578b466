// Parses path and method into the verb and resource of a request. Authorization and routing use the same result, so the
// authorized request is the one that is executed.
import { badRequest } from '../../api/status.ts';

export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /**
   * '' = none in the path. For a Namespace itself this is its own name, because RBAC may grant access inside that
   * namespace.
   */
  readonly namespace: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** There is more path after the subresource, as in `pods/x/proxy/index.html`. */
  readonly hasRest: boolean;
  /** The deprecated form `/api/v1/watch/…`. */
  readonly isWatch: boolean;
}

export interface RequestPath {
  /** '' = the cluster at the root. */
  readonly cluster: string;
  /** Without the prefix of the cluster. */
  readonly path: string;
  readonly resource: ResourcePath | undefined;
}

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

/** Throws a 400 for a path that cannot be decoded. */
export function parsePath(pathname: string): RequestPath {
  if (!pathname.startsWith('/')) throw badRequest('the request must name a path on this server');
  const segments = pathname.slice(1).split('/').map(decoded);
  const isElsewhere = segments[0] === 'clusters' && segments.length > 1 && segments[1] !== '';
  const local = isElsewhere ? segments.slice(2) : segments;
  if (local.length > 1 && local.at(-1) === '') local.pop();
  return {
    cluster: isElsewhere ? (segments[1] as string) : '',
    path: `/${local.join('/')}`,
    resource: resourcePath(local),
  };
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(segment.slice(0, 100))}`);
  }
}

function resourcePath(segments: readonly string[]): ResourcePath | undefined {
  const isCore = segments[0] === 'api';
  if (!isCore && segments[0] !== 'apis') return undefined;
  const [group, version, ...whole] = isCore ? ['', ...segments.slice(1)] : segments.slice(1);
  if (!version || group === undefined || (!isCore && group === '')) return undefined;
  const isWatch = whole[0] === 'watch' && whole.length > 1;
  let rest = isWatch ? whole.slice(1) : whole;
  let namespace = '';
  if (rest[0] === 'namespaces' && rest[1] !== undefined) {
    if (rest[1] === '') return undefined;
    namespace = rest[1];
    if (rest.length > 2 && !(NAMESPACE_SUBRESOURCES.has(rest[2] as string) && rest.length === 3)) rest = rest.slice(2);
  }
  const [plural, name, subresource, ...more] = rest;
  // A slash inside a segment would forge the key of another object; an empty segment is not a name.
  if (!plural || rest.slice(0, 3).some(isNoName) || (namespace !== '' && isNoName(namespace))) return undefined;
  return { group, version, plural, namespace, name, subresource, hasRest: more.length > 0, isWatch };
}

const isNoName = (segment: string): boolean => segment === '' || segment.includes('/') || segment.includes('\0');

/** The error in an object's name in a URL, as on a real server. */
export function nameFault(name: string): string | undefined {
  const why =
    name === '.' || name === '..' ? `may not be '${name}'` : name.includes('%') ? `may not contain '%'` : undefined;
  return why && `Name parameter invalid: ${JSON.stringify(name)}: ${why}`;
}

/** The verb as in RBAC; undefined for a method that no resource supports. */
export function verbOf(method: string | undefined, at: ResourcePath, isWatchAsked: boolean): string | undefined {
  const isOne = at.name !== undefined && !at.isWatch;
  switch (method) {
    case 'GET':
    case 'HEAD':
      return isOne ? 'get' : at.isWatch || isWatchAsked ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isOne ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

/** Caches the last paths: agents request the same few again and again. */
export function pathCache(size = 4096, longest = 256): (pathname: string) => RequestPath {
  const known = new Map<string, RequestPath>();
  return (pathname) => {
    let parsed = known.get(pathname);
    if (parsed) return parsed;
    parsed = parsePath(pathname);
    if (pathname.length <= longest) {
      if (known.size >= size) known.clear();
      known.set(pathname, parsed);
    }
    return parsed;
  };
}
