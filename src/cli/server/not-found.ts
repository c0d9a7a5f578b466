// A NotFound error that lists existing names, because a name is usually misspelled.
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { type Named, titled } from '../../insight/titled.ts';
import type { Connected } from './connect.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

/** Computed only when needed. */
type Hint = string | (() => Promise<string>);

/** The object, or a UserError that lists others of its kind, followed by `hint`. */
export async function getOr404(server: Server, at: Named, hint: Hint = '', signal?: AbortSignal): Promise<KubeObject> {
  checkServed(server, at.resource);
  try {
    return (await server.transport.call({ verb: 'get', at }, signal)).object as KubeObject;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error;
    const known = await knownNames(server, at);
    const besides = typeof hint === 'string' ? hint : await hint();
    throw new UserError('NotFound', `${titled(at)} not found${known}${besides}`, { cause: error });
  }
}

/** Whether an object exists that may be meant; false if it may not be read. */
export async function isThere({ transport }: Server, at: Named): Promise<boolean> {
  try {
    return (await transport.call({ verb: 'get', at, view: 'metadata' })).object !== undefined;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function checkServed({ catalogue }: Server, { group, kind, plural }: Resource): void {
  if (catalogue.resources.some((each) => each.group === group && each.kind === kind)) return;
  throw new UserError('NoHub', `this server has no ${plural}.${group}: is it the hub? (choose with --context)`);
}

const MAX_NAMES = 10;

/** The existing names, if they may be listed. */
async function knownNames({ transport }: Server, { name: _name, ...at }: Named): Promise<string> {
  try {
    const { list } = await transport.call({ verb: 'list', at, view: 'metadata', limit: MAX_NAMES });
    const names = (list?.items ?? []).map(({ metadata }: KubeObject) => metadata.name ?? '');
    const more = list?.metadata.continue ? ' and more' : '';
    return names.length === 0 ? ' (there are none)' : ` (known: ${names.join(', ')}${more})`;
  } catch (error) {
    if (error instanceof ApiError) return '';
    throw error;
  }
}
