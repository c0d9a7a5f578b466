// Summarizes holds for a status: holds with the same cause become one entry; at most fifty entries, with at least one
// per code.
import type { Hold } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import type { ObjectRef } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { by } from '../../base/compare.ts';

const MAX_ENTRIES = 50;
const MAX_CLUSTERS = 20;

export function summariseHolds(holds: readonly Hold[]): readonly HoldEntry[] {
  const groups = new Map<string, Hold[]>();
  for (const hold of holds) {
    const cause = causeOf(hold);
    const alike = groups.get(cause);
    if (alike === undefined) groups.set(cause, [hold]);
    else alike.push(hold);
  }
  return mostOf([...groups.values()]).map(entryOf);
}

/**
 * Keeps one entry per code: a gate that holds hundreds of clusters is listed even if fifty unavailable clusters come
 * before it.
 */
function mostOf(groups: readonly Hold[][]): readonly Hold[][] {
  if (groups.length <= MAX_ENTRIES) return groups;
  const first = new Map<string, Hold[]>();
  for (const group of groups) {
    const code = group[0]?.code ?? '';
    if (!first.has(code)) first.set(code, group);
  }
  const listed = new Set(first.values());
  for (const group of groups) if (listed.size < MAX_ENTRIES) listed.add(group);
  return groups.filter((group) => listed.has(group)).slice(0, MAX_ENTRIES);
}

const causeOf = ({ code, on }: Hold): string =>
  `${code} ${on === undefined ? '' : JSON.stringify([on.group, on.kind, on.namespace ?? '', on.name])}`;

function entryOf(alike: readonly Hold[]): HoldEntry {
  const [{ code, on, facts, next }] = alike as readonly [Hold];
  const since = alike.flatMap((hold) => hold.since ?? []);
  const until = alike.flatMap((hold) => hold.until ?? []);
  const clusters = clustersOf(alike);
  return {
    code,
    ...(on === undefined ? {} : { on: plain(on) }),
    ...(Object.keys(facts).length === 0 ? {} : { facts }),
    ...(since.length === 0 ? {} : { since: kubeTime(Math.min(...since)) }),
    ...(until.length === 0 ? {} : { until: kubeTime(Math.min(...until)) }),
    ...(next === undefined ? {} : { next }),
    count: clusters.length,
    ...(clusters.length === 0 ? {} : { clusters: clusters.slice(0, MAX_CLUSTERS) }),
  };
}

/** The waiting clusters. */
const clustersOf = (alike: readonly Hold[]): readonly string[] =>
  [...new Set(alike.filter(({ subject }) => subject.kind === 'MemberCluster').map(({ subject }) => subject.name))].sort(
    by((name) => name),
  );

const plain = ({ group, kind, namespace, name, uid }: ObjectRef): NonNullable<HoldEntry['on']> => ({
  ...(group === '' ? {} : { group }),
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
  ...(uid === undefined ? {} : { uid }),
});

/** Converts an entry back to a hold, for its message. */
export const holdOf = (entry: HoldEntry, subject: ObjectRef): Hold => ({
  code: entry.code as Hold['code'],
  subject,
  ...(entry.on === undefined ? {} : { on: { ...entry.on, group: entry.on.group ?? '' } }),
  facts: entry.facts ?? {},
  ...(entry.since === undefined ? {} : { since: Date.parse(entry.since) }),
  ...(entry.until === undefined ? {} : { until: Date.parse(entry.until) }),
  ...(entry.next === undefined ? {} : { next: entry.next }),
});
