// The verbs of a resource and its subresources, and their scope. Every entry point checks this first, so a verb can
// rely on it.
import { methodNotAllowed, noSuchResource, notFound, qualified } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';
import type { ServedResource } from '../registry.ts';

export interface Place {
  /** '' = none. */
  readonly namespace: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const notAllowed = () => methodNotAllowed('the server does not allow this method on the requested resource');

/** Throws the 404, 405 or 501 of a real server. */
export function checkOffered(resource: ServedResource, place: Place, verb: string): void {
  const { namespace, name, subresource } = place;
  if (!resource.namespaced && namespace !== '') throw noSuchResource();
  if (resource.namespaced && namespace === '') {
    if (name !== undefined) throw noSuchResource();
    if (verb === 'create' || verb === 'deletecollection') throw notAllowed();
  }
  if (subresource !== undefined) {
    checkSubresource(resource, name, subresource, verb);
    return;
  }
  const isMisnamed = verb === 'create' ? name !== undefined : NEEDS_NAME.has(verb) && !name;
  if (isMisnamed || !isServed(resource, verb)) throw notAllowed();
}

export const isServed = ({ verbs, unlistedVerbs = [] }: ServedResource, verb: string): boolean =>
  verbs.includes(verb) || unlistedVerbs.includes(verb);

const NEEDS_NAME: ReadonlySet<string> = new Set(['get', 'update', 'patch', 'delete']);
/** Subresources that need a running container, or a connection to one. */
const CONNECTING: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);
const STATUS_VERBS: ReadonlySet<string> = new Set(['get', 'update', 'patch']);

function checkSubresource(resource: ServedResource, name: string | undefined, subresource: string, verb: string): void {
  const declared = resource.subresources.find((each) => each.name === subresource);
  if (CONNECTING.has(subresource) && !resource.custom) {
    throw new ApiError(
      501,
      '',
      `${qualified(resource)}/${subresource} is not available: this server keeps objects and runs no containers`,
      {},
    );
  }
  const isOwn = (subresource === 'status' && resource.hasStatus) || (subresource === 'scale' && resource.scale);
  if (!declared && !isOwn) throw resource.custom ? notFound(resource, name ?? '') : noSuchResource();
  const allowed = declared ? declared.verbs.includes(verb) : STATUS_VERBS.has(verb);
  if (!allowed) throw notAllowed();
}
