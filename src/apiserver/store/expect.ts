// Optimistic concurrency: a write names the revision that its client has seen.
import { RevisionMismatch, type Stored, type Write } from './store.ts';

/** Throws RevisionMismatch unless `current` is what the client expects. */
export function checkExpected({ key, expect, value }: Write, current: Stored | undefined): void {
  const found = current?.revision ?? 'absent';
  if (found !== expect) {
    throw new RevisionMismatch(`"${key}" is ${named(found)}, but the writer saw it ${named(expect)}`);
  }
  if (value === undefined && current === undefined) {
    throw new RevisionMismatch(`"${key}" is absent: there is nothing to delete`);
  }
}

const named = (revision: number | 'absent'): string => (revision === 'absent' ? 'absent' : `at revision ${revision}`);
