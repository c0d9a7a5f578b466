// The placement that a person means, from the hub; a hint where another one may be meant.
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

/** Of one in a namespace: the one in none that may have been meant. */
async function namesake(server: Server, { name }: WhichPlacement): Promise<string> {
  const wide = placementTarget({ family: clusterFamily, name });
  return (await isThere(server, wide)) ? `; there is a ${titled(wide)}: omit -n` : '';
}
