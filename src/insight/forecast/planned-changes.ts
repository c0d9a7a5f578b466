// The changes that clusters get, by what they have now. Pure.
import { unwrapped } from '../../api/enveloped.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Counts, countsBetween } from './content-diff.ts';
import { diffBetween, type ObjectDiff } from './field-diff.ts';

export interface PlannedChange {
  /** The resource snapshot; empty = none. */
  readonly has: string;
  readonly clusters: number;
  /** Absent = the content could not be read. */
  readonly counts?: Counts;
  readonly diff?: readonly ObjectDiff[];
}

interface Changing {
  /** The resource snapshot of each cluster that gets something; empty = none. */
  readonly has: readonly string[];
  /** undefined = unknown. */
  readonly after: readonly KubeObject[] | undefined;
  contentOf(snapshot: string): readonly KubeObject[] | undefined;
  /** Include each changed field. */
  readonly full: boolean;
}

export function changesBetween({ has: all, after, contentOf, full }: Changing): readonly PlannedChange[] {
  const counted = new Map<string, number>();
  for (const has of all) counted.set(has, (counted.get(has) ?? 0) + 1);
  return [...counted].map(([has, clusters]) => {
    const before = has === '' ? [] : contentOf(has);
    if (before === undefined || after === undefined) return { has, clusters };
    return {
      has,
      clusters,
      counts: countsBetween(unwrapped(before), unwrapped(after)),
      ...(full ? { diff: diffBetween(before, after) } : {}),
    };
  });
}
