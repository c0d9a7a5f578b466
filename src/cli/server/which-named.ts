// Resolves a bare NAME to the one placement or run of that name: with a namespace only in it, without one also in the
// namespace of the kubeconfig's context.
import { ApiError, UserError } from '../../base/errors.ts';
import { clusterFamily, namespacedFamily, type PlacementFamily } from '../../hub/families.ts';
import { titled } from '../../insight/titled.ts';
import { NAME, placementTarget, type WhichPlacement } from '../../insight/which-placement.ts';
import { checkNamespace, runTarget, type WhichRun } from '../../insight/which-run.ts';
import type { Connected } from './connect.ts';
import { isThere } from './not-found.ts';

export type WhichNamed = { readonly placement: WhichPlacement } | { readonly run: WhichRun };

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

/** Throws a UserError that lists the candidates if none matches, or several. */
export async function whichNamed(server: Server, name: string, namespace?: string): Promise<WhichNamed> {
  if (!NAME.test(name)) throw new UserError('BadArgument', `"${name}" cannot be the name of a placement or a run`);
  checkNamespace(namespace);
  const wide: readonly { readonly family: PlacementFamily; readonly namespace?: string }[] =
    namespace === undefined ? [{ family: clusterFamily }] : [];
  const places = [...wide, { family: namespacedFamily, namespace: namespace ?? server.namespace }];
  const candidates = places.flatMap((place): readonly WhichNamed[] => [
    { placement: { ...place, name } },
    { run: { ...place, name } },
  ]);
  const found: WhichNamed[] = [];
  for (const candidate of candidates) if (await isThere(server, targetOf(candidate))) found.push(candidate);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) {
    const all = found.map((each) => `${titled(targetOf(each))} (${argumentOf(each)})`).join(', ');
    throw new UserError('Ambiguous', `"${name}" names ${found.length} objects: ${all}; write which one you mean`);
  }
  const where = namespace ?? server.namespace;
  const known = await Promise.all(
    candidates.map(async (each) => {
      const names = await namesIn(server, each);
      return names.length === 0 ? [] : [`${targetOf(each).resource.plural}: ${names.join(', ')}`];
    }),
  );
  const listed = known.flat().join('; ');
  throw new UserError(
    'NotFound',
    `no placement and no run "${name}" found (searched ${namespace === undefined ? 'cluster-scoped objects and ' : ''}namespace "${where}")${listed === '' ? '' : `; known: ${listed}`}`,
  );
}

const targetOf = (which: WhichNamed) =>
  'placement' in which ? placementTarget(which.placement) : runTarget(which.run);

const argumentOf = (which: WhichNamed): string => {
  const { name, namespace } = 'placement' in which ? which.placement : which.run;
  return `${'placement' in which ? 'placement' : 'run'}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;
};

const MAX_NAMES = 5;

async function namesIn({ transport }: Server, which: WhichNamed): Promise<readonly string[]> {
  const { name: _name, ...at } = targetOf(which);
  try {
    const { list } = await transport.call({ verb: 'list', at, view: 'metadata', limit: MAX_NAMES });
    return (list?.items ?? []).map(({ metadata }) => metadata.name ?? '');
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
