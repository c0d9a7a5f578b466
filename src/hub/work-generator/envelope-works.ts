// An envelope keeps its Work, whichever snapshot of the group it is in: the name comes from the first snapshot, and the
// Work is found by its labels afterwards. Pure.
import { labels } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import { by, byText } from '../../base/compare.ts';
import type { HubWork } from '../work-source.ts';
import type { DesiredWork } from './desired.ts';

const NAMED: readonly string[] = [labels.envelopeWork, labels.envelopeName, labels.envelopeNamespace];

/** undefined = not the Work of an envelope. */
const envelopeOf = (marks: Labels | undefined): string | undefined =>
  marks?.[labels.envelopeName] === undefined ? undefined : NAMED.map((name) => marks[name] ?? '').join('/');

export interface Named {
  readonly desired: readonly DesiredWork[];
  /** A message for each envelope that has several Works. */
  readonly duplicates: readonly string[];
}

/**
 * `own`: the live Works of the binding. Differs from KubeFleet: with several Works for one envelope it stops until
 * someone deletes them; here the one with the expected name, or else the first by name, is kept, and its objects are
 * handed over before the others are deleted.
 */
export function envelopesAsNamed(desired: readonly DesiredWork[], own: readonly HubWork[]): Named {
  const known = new Map<string, HubWork[]>();
  for (const each of own.toSorted(by(({ metadata }) => metadata.name ?? ''))) {
    const envelope = envelopeOf(each.metadata.labels);
    if (envelope !== undefined) known.set(envelope, [...(known.get(envelope) ?? []), each]);
  }
  if (known.size === 0) return { desired, duplicates: [] };
  const duplicates: string[] = [];
  const named = desired.map((each) => {
    const found = (known.get(envelopeOf(each.labels) ?? '') ?? []).map(({ metadata }) => metadata.name ?? '');
    const name = found.includes(each.name) ? each.name : (found[0] ?? each.name);
    if (found.length > 1) {
      const others = found.filter((other) => other !== name).toSorted(byText);
      const { [labels.envelopeWork]: type, [labels.envelopeName]: envelope } = each.labels;
      duplicates.push(
        `${type} "${envelope}" has ${found.length} Works for this cluster: "${name}" is kept, ${others.map((other) => `"${other}"`).join(', ')} will be deleted`,
      );
    }
    return name === each.name ? each : { ...each, name };
  });
  return { desired: named, duplicates };
}
