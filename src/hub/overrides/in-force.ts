// Which override snapshots are in force for a revision. Pure.
import type { Hold } from '../../api/hold.ts';
import type { ObjectMeta, ObjectRef } from '../../api/object.ts';
import { deepEqual } from '../../base/json.ts';
import { refTo } from '../../runtime/actions.ts';
import { type HubOverride, type HubOverrideSnapshot, isAbout, matchesPlacement, type Offered } from './matching.ts';
import { refusalOf } from './refusal.ts';

/** An override that is not being deleted. */
export interface OverrideInForce {
  readonly override: HubOverride;
  readonly newest: HubOverrideSnapshot | undefined;
  /** It is not in force and gets no snapshot. */
  isRefused(): boolean;
}

export interface InForce {
  readonly snapshots: readonly HubOverrideSnapshot[];
  /** An override that has changed and has no snapshot yet. */
  readonly pending?: Hold;
}

/** By index, not by label: a newer snapshot may exist before the older one loses the label. */
export const newestIn = (snapshots: readonly HubOverrideSnapshot[]): HubOverrideSnapshot | undefined =>
  snapshots
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .reduce<HubOverrideSnapshot | undefined>(
      (best, each) => (best === undefined || each.index > best.index ? each : best),
      undefined,
    );

/** Overrides that may apply to the placement, with their newest snapshots. `all`: the overrides of one kind. */
export function candidatesAmong(
  all: readonly HubOverride[],
  snapshotsOf: (override: HubOverride) => readonly HubOverrideSnapshot[],
  placed: ObjectMeta,
): readonly OverrideInForce[] {
  return all
    .filter((each) => each.metadata.deletionTimestamp === undefined && matchesPlacement(each, placed))
    .map((override) => ({
      override,
      newest: newestIn(snapshotsOf(override)),
      isRefused: () => {
        const beside = all.filter(({ metadata }) => metadata.namespace === override.metadata.namespace);
        return refusalOf(override, beside) !== undefined;
      },
    }));
}

export function inForce(candidates: readonly OverrideInForce[], offered: Offered, subject: ObjectRef): InForce {
  const waiting = candidates.find(
    ({ override, newest, isRefused }) =>
      (isAbout(override, offered) || (newest !== undefined && isAbout(newest, offered))) &&
      !(newest !== undefined && deepEqual(newest.spec, override.spec)) &&
      !isRefused(),
  );
  const snapshots = candidates.flatMap(({ newest }) =>
    newest !== undefined && isAbout(newest, offered) ? newest : [],
  );
  if (waiting === undefined) return { snapshots };
  const on = refTo(waiting.override.resource, waiting.override);
  const next = 'wait until the hub has taken a snapshot of it';
  return { snapshots, pending: { code: 'OverridePending', subject, on, facts: {}, next } };
}
