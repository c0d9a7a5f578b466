// Marks by which a member knows what to keep when a Work is deleted. Pure.
import { annotations } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { HubWork } from '../work-source.ts';

export const keepsTakenOver = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
  metadata.annotations?.[annotations.keepTakenOver] === 'true';

/** undefined = the Work has the right mark already. */
export const changedKeeping = (
  known: HubWork,
  keeps: boolean | undefined,
): Record<string, string | null> | undefined =>
  keeps === undefined || keepsTakenOver(known) === keeps
    ? undefined
    : { [annotations.keepTakenOver]: keeps ? 'true' : null };

/** A binding is marked only when its placement is deleted; a cluster that is no longer picked is cleaned up. */
export function changedMarks(
  binding: HubBinding,
  known: HubWork,
  keeps: boolean | undefined,
): Record<string, string | null> | undefined {
  const keeping = changedKeeping(known, keeps);
  if (!isAbandoned(binding) || isAbandoned(known)) return keeping;
  return { ...keeping, [annotations.abandon]: 'true' };
}

const isAbandoned = ({ metadata }: { readonly metadata: ObjectMeta }): boolean =>
  metadata.annotations?.[annotations.abandon] === 'true';

export const KEEPING = 'says whether what was taken over is kept';
