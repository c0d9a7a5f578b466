// `flotilla diff placement/NAME --revision A --revision B`: the differences between two revisions on the hub, object by
// object.
import type { KubeObject } from '../../api/object.ts';
import { UserError } from '../../base/errors.ts';
import type { WhichPlacement } from '../../insight/which-placement.ts';
import { identityOf } from '../revisions/object-diff.ts';
import { revisionAt, revisionsOf } from '../revisions/revisions.ts';
import { withMaskedSecrets } from '../revisions/secrets.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import { differenceOf, nameOf, type ObjectDifference } from './difference.ts';

export async function betweenRevisions(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
  [from, to]: readonly string[],
): Promise<readonly ObjectDifference[]> {
  if (from === undefined || to === undefined)
    throw new UserError('BadFlag', 'name two revisions: --revision A --revision B, as `flotilla history` lists them');
  await getPlacement(server, which);
  const revisions = await revisionsOf(server, which);
  const before = byIdentity(revisionAt(revisions, from, which).objects);
  const after = byIdentity(revisionAt(revisions, to, which).objects);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((identity) => {
    const [old, fresh] = [before.get(identity), after.get(identity)];
    const titles = { before: `revision ${from}`, after: `revision ${to}` };
    return differenceOf(
      nameOf((fresh ?? old) as KubeObject),
      withMaskedSecrets(old, fresh, '*** (before)'),
      withMaskedSecrets(fresh, old, '*** (after)'),
      titles,
    );
  });
}

const byIdentity = (objects: readonly KubeObject[]) => new Map(objects.map((each) => [identityOf(each), each]));
