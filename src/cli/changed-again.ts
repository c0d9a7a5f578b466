// What somebody changes on a member again and again, so that it is put back ever more seldom: applied by what the status says, and yet not always so.
import type { ApplyCauseCode } from '../api/apply-cause.ts';
import { clusterOfNamespace } from '../api/names.ts';
import type { Work } from '../api/work.ts';

/** More than that nobody reads. */
const MOST = 5;

export function changedAgainNotes(works: readonly Work[]): readonly string[] {
  const notes = works.flatMap(({ metadata, status }) => {
    const cluster = clusterOfNamespace(metadata.namespace ?? '');
    return (status?.manifestConditions ?? [])
      .filter(({ cause }) => cause?.code === ('ChangedRepeatedly' satisfies ApplyCauseCode))
      .flatMap(({ conditions }) => conditions)
      .filter(({ type, status: is }) => type === 'Applied' && is === 'True')
      .map(({ message }) => `on cluster "${cluster}": ${message}`);
  });
  const more = notes.length - MOST;
  return [...notes.slice(0, MOST), ...(more > 0 ? [`and ${more} more that somebody changes again and again`] : [])];
}
