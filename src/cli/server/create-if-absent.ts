// Creates an object unless it exists.
import type { KubeObject } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import type { Connected } from './connect.ts';
import { targetOf } from './target.ts';

/** True if it was created. */
export async function createIfAbsent(
  server: Pick<Connected, 'transport' | 'catalogue' | 'namespace'>,
  object: KubeObject,
): Promise<boolean> {
  const { name: _name, ...at } = targetOf(server, object);
  try {
    await server.transport.call({ verb: 'create', at, object, manager: 'flotilla' });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'AlreadyExists') return false;
    throw error;
  }
}
