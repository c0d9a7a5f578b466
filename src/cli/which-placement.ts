// Which placement a person means: `placement/NAME` is a ResourcePlacement with a namespace and a ClusterResourcePlacement without one.
import type { KubeObject } from '../api/object.ts';
import type { Placement } from '../api/placement.ts';
import { ApiError, UserError } from '../base/errors.ts';
import { clusterFamily, namespacedFamily, type PlacementFamily } from '../hub/families.ts';
import type { Connected } from './connect.ts';

export interface WhichPlacement {
  readonly family: PlacementFamily;
  readonly name: string;
  readonly namespace?: string;
}

const EITHER: readonly string[] = ['placement', 'placements'];
const wordsOf = (kind: string, short: string): readonly string[] => [kind, `${kind}s`, short];
const WIDE = wordsOf('clusterresourceplacement', 'crp');
const NARROW = wordsOf('resourceplacement', 'rp');
/** Of objects, namespaces and clusters: anything else would not be a name in a path, but a path. */
export const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** `namespace`: what was asked for by name, not what the kubeconfig happens to say. */
export function whichPlacement(argument: string, namespace?: string): WhichPlacement {
  const [given = '', name = '', ...rest] = argument.split('/');
  const [word = ''] = given.toLowerCase().split('.');
  const isKnown = [...EITHER, ...WIDE, ...NARROW].includes(word);
  if (!isKnown || name === '' || rest.length > 0) {
    const meant = isKnown || name !== '' ? 'web' : given.toLowerCase();
    throw bad(
      `"${argument}" names no placement: write placement/NAME, such as placement/${NAME.test(meant) ? meant : 'web'}`,
    );
  }
  if (!NAME.test(name))
    throw bad(`"${name}" cannot be the name of a placement: write placement/NAME, such as placement/web`);
  if (namespace !== undefined && !NAME.test(namespace)) throw bad(`"${namespace}" cannot be the name of a namespace`);
  if (WIDE.includes(word) && namespace !== undefined) {
    throw bad(`a ClusterResourcePlacement is in no namespace: leave -n away, or write placement/${name}`);
  }
  if (NARROW.includes(word) && namespace === undefined) {
    throw bad(`a ResourcePlacement is in a namespace: name it with -n, such as -n team`);
  }
  return namespace === undefined ? { family: clusterFamily, name } : { family: namespacedFamily, name, namespace };
}

const bad = (message: string): UserError => new UserError('BadArgument', message);

/** `ResourcePlacement "team/web"` */
export const titleOf = ({ family, name, namespace }: WhichPlacement): string =>
  `${family.placement.kind} "${namespace === undefined ? '' : `${namespace}/`}${name}"`;

/** What to type for it. */
export const argumentOf = ({ name, namespace }: WhichPlacement): string =>
  `placement/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

export const placementTarget = ({ family, name, namespace }: WhichPlacement) => ({
  resource: family.placement,
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

export async function getPlacement(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
): Promise<Placement> {
  const { group, kind, plural } = which.family.placement;
  if (!server.catalogue.resources.some((each) => each.group === group && each.kind === kind)) {
    throw new UserError('NoHub', `this server has no ${plural}.${group}: is it the hub? (choose with --context)`);
  }
  try {
    return (await server.transport.call({ verb: 'get', at: placementTarget(which) })).object as Placement;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error;
    throw new UserError('NotFound', `there is no ${titleOf(which)}${await alternatives(server, which)}`, {
      cause: error,
    });
  }
}

const MOST_NAMES = 10;

/** What there is instead, if that may be known. */
async function alternatives({ transport }: Pick<Connected, 'transport'>, which: WhichPlacement): Promise<string> {
  const { name: _name, ...at } = placementTarget(which);
  const hint = which.namespace === undefined ? '; a ResourcePlacement needs its namespace: -n' : '';
  try {
    const { list } = await transport.call({ verb: 'list', at, view: 'metadata', limit: MOST_NAMES });
    const names = (list?.items ?? []).map(({ metadata }: KubeObject) => metadata.name ?? '');
    const more = list?.metadata.continue ? ' and more' : '';
    return `${names.length === 0 ? ' (none at all)' : ` (known: ${names.join(', ')}${more})`}${hint}`;
  } catch (error) {
    if (error instanceof ApiError) return hint;
    throw error;
  }
}
