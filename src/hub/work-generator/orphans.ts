// Orphaned Works: a create request was lost, given up, and arrived after its binding was deleted. Differs from
// KubeFleet, where such a Work and its workloads stay forever. Guarantee: no Work is deleted that may still belong to a
// binding, such as one that a user force-deleted, and none of a leaving member, whose workloads keep running.
import { remove, seen } from '../../runtime/actions.ts';
import { type Decision, idle } from '../../runtime/controller.ts';
import { ORPHAN_GRACE_MS } from '../bindings/orphan-grace.ts';
import { type HubWork, works } from '../work-source.ts';

export interface Orphaned {
  readonly orphans: readonly HubWork[];
  readonly since: number;
  readonly now: number;
}

export const isDue = ({ since, now }: Pick<Orphaned, 'since' | 'now'>): boolean => now >= since + ORPHAN_GRACE_MS;

export function decideOrphans({ orphans, since, now }: Orphaned): Decision {
  const wakeAt = since + ORPHAN_GRACE_MS;
  const because = `${orphans.length} Works belong to a binding that does not exist any more`;
  if (!isDue({ since, now })) return idle(because, { wakeAt });
  return { steps: [orphans.map((each) => remove(seen(works, each), because))], holds: [], because };
}
