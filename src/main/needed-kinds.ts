// A part that is started on a cluster without its kinds says so at once, and how they get there.
import { appliedWork } from '../api/applied-work.ts';
import { internalMemberCluster } from '../api/internal-member-cluster.ts';
import type { Resource } from '../api/kind.ts';
import { memberCluster } from '../api/member-cluster.ts';
import { qualified } from '../api/status.ts';
import { work } from '../api/work.ts';
import { UserError } from '../base/errors.ts';
import type { Catalogue } from '../client/discovery.ts';
import { families } from '../hub/families.ts';

/** What the hub's controllers of today work on. */
export const HUB_NEEDS: readonly Resource[] = [
  memberCluster,
  internalMemberCluster,
  ...families.flatMap((each) => [
    each.placement,
    each.policySnapshot,
    each.resourceSnapshot,
    each.binding,
    each.run,
    each.strategy,
    each.approvalRequest,
  ]),
  work,
];

export const AGENT_NEEDS: readonly Resource[] = [appliedWork];

const MOST_TOLD = 5;

/** Throws a UserError that names what the server does not serve. */
export function checkKinds(
  { resources }: Pick<Catalogue, 'resources'>,
  needed: readonly Resource[],
  { where, remedy }: { readonly where: string; readonly remedy: string },
): void {
  const served = new Set(resources.map(({ group, version, plural }) => `${group}/${version}/${plural}`));
  const missing = needed.filter(({ group, version, plural }) => !served.has(`${group}/${version}/${plural}`));
  if (missing.length === 0) return;
  const names = missing.slice(0, MOST_TOLD).map((kind) => qualified(kind));
  const more = missing.length > MOST_TOLD ? ` and ${missing.length - MOST_TOLD} more` : '';
  throw new UserError('KindsMissing', `${where} does not serve ${names.join(', ')}${more}: ${remedy}`);
}
