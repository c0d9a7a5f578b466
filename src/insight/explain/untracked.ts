// What counts as available because it cannot be tracked: the user should know that, even if all conditions are True.
import { annotations } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { ifRead } from '../reader.ts';
import { bindingsOf, type Looking } from './evidence-chain.ts';
import { objectName } from './explanation.ts';

const REASON = 'NotAllWorkAreAvailabilityTrackable';
const MAX = 3;

export async function untrackedNotes(looking: Looking): Promise<readonly string[]> {
  const states = looking.placement.status?.placementStatuses ?? [];
  const where = states.filter(({ conditions }) => conditionOf(conditions, 'Available')?.reason === REASON);
  const cluster = where[0]?.clusterName;
  if (cluster === undefined) return [];
  const objects = await untrackedOn(looking, cluster);
  const more = objects.length > MAX ? ` and ${objects.length - MAX} more` : '';
  const what = objects.length === 0 ? 'all of it' : `${objects.map(objectName).slice(0, MAX).join(', ')}${more}`;
  const on = where.length === 1 ? `cluster "${cluster}"` : `${where.length} clusters`;
  const isJob = objects.some(({ kind }) => kind === 'Job');
  const help = isJob
    ? `; a Job is looked at if it, or the placement, has the annotation ${annotations.trackAvailability}: "true"`
    : '';
  return [`the availability of ${what} on ${on} cannot be tracked; it counts as available after some time${help}`];
}

async function untrackedOn(looking: Looking, cluster: string) {
  const [binding] = await bindingsOf(looking, cluster);
  const works = binding === undefined ? undefined : ifRead(await looking.reader.worksOf(binding));
  return (works ?? []).flatMap(({ status }) =>
    (status?.manifestConditions ?? [])
      .filter(({ conditions }) => conditionOf(conditions, 'Available')?.reason === 'NotTrackable')
      .map(({ identifier }) => identifier),
  );
}
