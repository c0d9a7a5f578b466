// Reads a placement from the hub; if it does not exist, the error hints at one that may be meant.
import type { Placement } from '../../api/placement.ts';
import { clusterFamily } from '../../hub/families.ts';
import { titled } from '../../insight/titled.ts';
import { placementTarget, type WhichPlacement } from '../../insight/which-placement.ts';
import type { Connected } from './connect.ts';
import { getOr404, isThere } from './not-found.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

export const getPlacement = async (server: Server, which: WhichPlacement): Promise<Placement> =>
  (await getOr404(
    server,
    placementTarget(which),
    which.namespace === undefined ? '; a ResourcePlacement needs its namespace: -n' : () => namesake(server, which),
  )) as Placement;

/** For a namespaced placement: a cluster-scoped one of the same name that may be meant. */
async function namesake(server: Server, { name }: WhichPlacement): Promise<string> {
  const wide = placementTarget({ family: clusterFamily, name });
  return (await isThere(server, wide)) ? `; there is a ${titled(wide)}: omit -n` : '';
}
