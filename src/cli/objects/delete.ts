// `flotilla delete`: by name or by manifest; reports what is deleted and which finalizers remain.
import type { Target } from '../../api/transport.ts';
import { ApiError } from '../../base/errors.ts';
import type { Connected } from '../server/connect.ts';
import { namespaceFor, type Print, refer, targetOf } from '../server/target.ts';
import type { Manifest } from './manifests.ts';

/** Returns the number of refusals. */
export async function deleteNamed(
  server: Connected,
  word: string,
  names: readonly string[],
  print: Print,
): Promise<number> {
  const resource = server.catalogue.byWord(word);
  return deleteAll(
    server,
    names.map((name) => ({ resource, name, ...namespaceFor(server, resource) })),
    print,
  );
}

/** In reverse order, because later objects in a file usually depend on earlier ones. */
export const deleteManifests = (server: Connected, manifests: readonly Manifest[], print: Print): Promise<number> =>
  deleteAll(server, manifests.map(({ object }) => targetOf(server, object)).reverse(), print);

async function deleteAll(
  server: Connected,
  targets: readonly (Target & { readonly name: string })[],
  print: Print,
): Promise<number> {
  let refused = 0;
  for (const at of targets) {
    try {
      const { object } = await server.transport.call({ verb: 'delete', at, propagation: 'Background' });
      const finalizers = object?.metadata?.finalizers ?? [];
      print.line(
        `${refer(at)} ${finalizers.length > 0 ? `is being deleted (held by ${finalizers.join(', ')})` : 'deleted'}`,
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused += 1;
      print.error(error.message);
    }
  }
  return refused;
}
