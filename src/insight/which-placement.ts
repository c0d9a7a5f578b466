// Parses which placement a user means: `placement/NAME` is a ResourcePlacement with a namespace and a
// ClusterResourcePlacement without one.
import { UserError } from '../base/errors.ts';
import { clusterFamily, namespacedFamily, type PlacementFamily } from '../hub/families.ts';
import { titled } from './titled.ts';

export interface WhichPlacement {
  readonly family: PlacementFamily;
  readonly name: string;
  readonly namespace?: string;
}

const EITHER: readonly string[] = ['placement', 'placements'];
const wordsOf = (kind: string, short: string): readonly string[] => [kind, `${kind}s`, short];
const WIDE = wordsOf('clusterresourceplacement', 'crp');
const NARROW = wordsOf('resourceplacement', 'rp');
const wordIn = (argument: string): string => argument.split('/')[0]?.split('.')[0]?.toLowerCase() ?? '';
/** The argument names a namespaced kind. */
export const isNarrowPlacement = (argument: string): boolean =>
  argument.includes('/') && NARROW.includes(wordIn(argument));
/** Valid names of objects, namespaces and clusters: anything else could inject a path into a URL. */
export const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** `namespace`: as given explicitly, not the default of the kubeconfig. `orRun`: the command also accepts a run. */
export function whichPlacement(argument: string, namespace?: string, orRun?: 'or run'): WhichPlacement {
  const [given = '', name = '', ...rest] = argument.split('/');
  const [word = ''] = given.toLowerCase().split('.');
  const isKnown = [...EITHER, ...WIDE, ...NARROW].includes(word);
  if (!isKnown || name === '' || rest.length > 0) {
    const meant = isKnown || name !== '' ? 'web' : given.toLowerCase();
    const nothing = orRun === undefined ? 'no placement' : 'neither a placement nor a run';
    const write = orRun === undefined ? 'placement/NAME' : 'placement/NAME or run/NAME';
    throw bad(`"${argument}" names ${nothing}: write ${write}, such as placement/${NAME.test(meant) ? meant : 'web'}`);
  }
  if (!NAME.test(name))
    throw bad(`"${name}" cannot be the name of a placement: write placement/NAME, such as placement/web`);
  if (namespace !== undefined && !NAME.test(namespace)) throw bad(`"${namespace}" cannot be the name of a namespace`);
  if (WIDE.includes(word) && namespace !== undefined) {
    throw bad(`a ClusterResourcePlacement is in no namespace: omit -n, or write placement/${name}`);
  }
  if (NARROW.includes(word) && namespace === undefined) {
    throw bad(`a ResourcePlacement is in a namespace: name it with -n, such as -n team`);
  }
  return namespace === undefined ? { family: clusterFamily, name } : { family: namespacedFamily, name, namespace };
}

const bad = (message: string): UserError => new UserError('BadArgument', message);

/** `ResourcePlacement "team/web"` */
export const titleOf = (which: WhichPlacement): string => titled(placementTarget(which));

/** The argument that names it. */
export const argumentOf = ({ name, namespace }: WhichPlacement): string =>
  `placement/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

export const placementTarget = ({ family, name, namespace }: WhichPlacement) => ({
  resource: family.placement,
  name,
  namespace,
});
