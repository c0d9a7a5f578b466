// Problems that the status counts as applied: objects that other clients keep changing, and removed objects that
// finalizers of others keep.
import type { ApplyCauseCode } from '../../api/apply-cause.ts';
import { clusterOfNamespace } from '../../api/names.ts';
import type { Work } from '../../api/work.ts';

const MAX_NOTES = 5;
const CODES: readonly string[] = ['ChangedRepeatedly', 'ChangedOnAdmission', 'BeingDeleted'] satisfies ApplyCauseCode[];

export function changedAgainNotes(works: readonly Work[]): readonly string[] {
  const notes = works.flatMap(({ metadata, status }) => {
    const cluster = clusterOfNamespace(metadata.namespace ?? '');
    return (status?.manifestConditions ?? [])
      .filter(({ cause }) => CODES.includes(cause?.code ?? ''))
      .flatMap(({ conditions }) => conditions)
      .filter(({ type, status: is }) => type === 'Applied' && is === 'True')
      .map(({ message }) => `on cluster "${cluster}": ${message}`);
  });
  const more = notes.length - MAX_NOTES;
  return [...notes.slice(0, MAX_NOTES), ...(more > 0 ? [`and ${more} more objects that others change or keep`] : [])];
}
