// `flotilla plan placement/NAME [--image CONTAINER=IMAGE] [-f FILE]`: what the rollout of a placement would do. Writes
// nothing: the manifests of -f are checked by a dry run.
import type { Binding } from '../../api/binding.ts';
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import { annotations, labels, masterSnapshotName } from '../../api/names.ts';
import { apiVersionOf, groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { createClient } from '../../client/client.ts';
import { newestComplete } from '../../hub/orders/newest-snapshot.ts';
import { policyHashOf } from '../../hub/placement/policy-hash.ts';
import {
  type HubPlacement,
  type HubPolicySnapshot,
  type HubResourceSnapshot,
  isLatest,
  resourceIndexOf,
} from '../../hub/placement-sources.ts';
import { contentOf, marksOf } from '../../hub/revisions/content.ts';
import { countsBetween } from '../../insight/forecast/content-diff.ts';
import { durationOf } from '../../insight/forecast/duration.ts';
import { labelsAmong, overridingNow } from '../../insight/forecast/overrides-now.ts';
import { changesBetween } from '../../insight/forecast/planned-changes.ts';
import { forecastRollout } from '../../insight/forecast/rollout-forecast.ts';
import { scheduleNow } from '../../insight/forecast/scheduling-now.ts';
import { objectsIn } from '../../insight/forecast/snapshot-objects.ts';
import { titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import { within } from '../../insight/which-run.ts';
import { rehearse } from '../objects/apply.ts';
import type { Manifest } from '../objects/manifests.ts';
import { readGroups } from '../reading/groups.ts';
import { readOverrides } from '../reading/read-overrides.ts';
import { selectedNow } from '../reading/selected-now.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import type { Print } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';
import { type RolloutPlan, renderRolloutPlan } from './render-rollout-plan.ts';

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

export interface PlanRolloutOptions {
  readonly output?: string;
  /** `CONTAINER=IMAGE` */
  readonly images: readonly string[];
  readonly manifests: readonly Manifest[];
  readonly durationMs?: number;
  readonly full: boolean;
  readonly clock: Clock;
  /** A placement with its objects, as a repository would create it, instead of the one on the hub. */
  readonly pretended?: { readonly placement: Placement; readonly objects: readonly KubeObject[] };
}

/** Returns the exit code. */
export async function planRollout(
  server: Server,
  which: WhichPlacement,
  options: PlanRolloutOptions,
  print: Print,
): Promise<number> {
  const plan = await rolloutPlanOf(server, which, options);
  print.line(options.output === 'json' ? JSON.stringify(plan, undefined, 2) : renderRolloutPlan(plan, options.full));
  return plan.end === 'completes' ? EXIT.complete : EXIT.waiting;
}

export async function rolloutPlanOf(
  server: Server,
  which: WhichPlacement,
  options: PlanRolloutOptions,
): Promise<RolloutPlan> {
  const { family, name, namespace } = which;
  const now = options.clock.now();
  const notes: string[] = [];
  const given = await rehearsedAll(server, options.manifests, notes);
  const isMeant = ({ kind, metadata }: KubeObject) => kind === family.placement.kind && metadata.name === name;
  const placement = (options.pretended?.placement ??
    given.find(isMeant) ??
    (await getPlacement(server, which))) as Placement;
  const strategy = placement.spec.strategy?.type ?? 'RollingUpdate';
  if (strategy === 'External') {
    throw new UserError(
      'External',
      `${titleOf(which)} has strategy type External: staged update runs roll it out; see flotilla plan run`,
    );
  }
  if ((placement.spec.dependsOn ?? []).length > 0)
    notes.push('dependencies are not part of the forecast: clusters may wait longer (spec.dependsOn)');
  const hub = family.placements.project?.(placement) as HubPlacement;
  const client = createClient(server.transport, 'flotilla');
  const ours = { labels: `${labels.parentPlacement}=${name}`, ...within(namespace) };
  const [bindings, snapshots, policies, members, groups, overrides] = await Promise.all([
    client.list(family.binding, ours).then(({ items }) => items),
    client.list(family.resourceSnapshot, ours).then(({ items }) => items),
    client.list(family.policySnapshot, ours).then(({ items }) => items),
    client.list(memberCluster).then(({ items }) => items as readonly MemberCluster[]),
    readGroups(client),
    readOverrides(client, { name, ...within(namespace) }),
  ]);
  const others = given.filter((each) => !isMeant(each));
  const after =
    options.pretended === undefined
      ? await contentNow(server, hub, { others, images: options.images, notes })
      : contentOf(options.pretended.objects, marksOf(hub)).objects;
  const known = snapshots.map((each) => family.resourceSnapshots.project?.(each) as HubResourceSnapshot);
  const newest = newestComplete(known);
  const contents = contentsBySnapshot(snapshots, known);
  const before = contents.get(newest?.metadata.name ?? '');
  const isNewRevision = before === undefined || !isSame(before, after);
  const index = isNewRevision
    ? Math.max(-1, ...known.map((each) => resourceIndexOf(each) ?? -1)) + 1
    : (resourceIndexOf(newest as HubResourceSnapshot) ?? 0);
  const shipped = isNewRevision
    ? pretendedSnapshot(which, index)
    : (snapshots.find(({ metadata }) => metadata.name === newest?.metadata.name) as KubeObject);
  const policySnapshot = policies.flatMap((each) => family.policySnapshots.project?.(each) ?? []).find(isLatest);
  const targets = scheduled(which, placement, { bindings, members, policySnapshot, groups, now });
  const { durationMs, durationFrom } = durationOf(bindings, options.durationMs);
  const foreseen = forecastRollout({
    family,
    placement,
    bindings: targets,
    newest: shipped,
    policySnapshot,
    members,
    overriding: overridingNow(family, placement, overrides, after, labelsAmong(members)),
    groups,
    durationMs,
    now,
  });
  return {
    kind: family.placement.kind,
    name,
    ...within(namespace),
    strategy,
    revision: String(index),
    isNewRevision,
    ...foreseen,
    changes: changesBetween({
      has: hadBy(targets, new Set(foreseen.waves.flatMap(({ clusters, removes }) => (removes ? [] : clusters)))),
      after,
      contentOf: (snapshot) => contents.get(snapshot),
      full: options.full,
    }),
    durationMs,
    durationFrom,
    notes,
  };
}

async function rehearsedAll(server: Server, manifests: readonly Manifest[], notes: string[]): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const { object } of manifests) {
    try {
      objects.push(await rehearse(server, object));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 403)) throw error;
      notes.push(`the server did not check ${object.kind} "${object.metadata.name}": ${error.message}`);
      objects.push(object);
    }
  }
  return objects;
}

// ---- what is rolled out

interface Changes {
  readonly others: readonly KubeObject[];
  readonly images: readonly string[];
  readonly notes: string[];
}

async function contentNow(server: Server, placement: HubPlacement, { others, images, notes }: Changes) {
  const { selected, notes: unread } = await selectedNow(server, placement);
  notes.push(...unread);
  if (selected.state !== 'selected') {
    throw new UserError(
      'NothingSelected',
      'message' in selected ? String(selected.message) : 'the selection is unknown',
    );
  }
  notes.push(...selected.notes);
  const replaced = contentOf(others, marksOf(placement)).objects;
  let objects = selected.content.objects.map((each) => replaced.find((other) => isSameObject(each, other)) ?? each);
  for (const other of replaced) {
    if (!selected.content.objects.some((each) => isSameObject(each, other)))
      notes.push(`${other.kind} "${other.metadata.name}" of -f is left out: the placement does not select it now`);
  }
  for (const image of images) {
    const changed = objects.map((each) => withImage(each, image));
    if (changed.every((each, at) => each === objects[at]))
      notes.push(`--image ${image} changes nothing: no selected object has such a container with another image`);
    objects = changed;
  }
  return objects;
}

const isSameObject = (a: KubeObject, b: KubeObject): boolean =>
  a.kind === b.kind &&
  groupVersionOf(a.apiVersion).group === groupVersionOf(b.apiVersion).group &&
  a.metadata.name === b.metadata.name &&
  a.metadata.namespace === b.metadata.namespace;

/** The same object if it has no such container. Any list named `containers` is treated as part of a Pod template. */
export function withImage<T>(value: T, image: string): T {
  const at = image.indexOf('=');
  const container = image.slice(0, at);
  const wanted = image.slice(at + 1);
  if (at <= 0 || wanted === '') throw new UserError('BadFlag', `--image ${image}: CONTAINER=IMAGE is expected`);
  const visit = (node: unknown, inList: boolean): unknown => {
    if (Array.isArray(node)) {
      const items = node.map((each) => visit(each, inList));
      return items.every((each, index) => each === node[index]) ? node : items;
    }
    if (!isObject(node)) return node;
    if (inList && node['name'] === container && typeof node['image'] === 'string')
      return node['image'] === wanted ? node : { ...node, image: wanted };
    const entries = Object.entries(node).map(([key, child]) => [key, visit(child, LISTS.includes(key))] as const);
    return entries.every(([key, child]) => child === node[key]) ? node : Object.fromEntries(entries);
  };
  return visit(value, false) as T;
}

const LISTS: readonly string[] = ['containers', 'initContainers'];

function isSame(before: readonly KubeObject[], after: readonly KubeObject[]): boolean {
  const { added, changed, removed } = countsBetween(before, after);
  return added + changed + removed === 0;
}

/** The objects of each revision, by the name of its master snapshot. */
function contentsBySnapshot(snapshots: readonly KubeObject[], known: readonly HubResourceSnapshot[]) {
  const contents = new Map<string, readonly KubeObject[]>();
  for (const { metadata } of snapshots) {
    const index = known.find((each) => each.metadata.name === metadata.name);
    const number = index && resourceIndexOf(index);
    const parts = snapshots.filter((_, at) => resourceIndexOf(known[at] as HubResourceSnapshot) === number);
    contents.set(metadata.name ?? '', objectsIn(parts));
  }
  return contents;
}

export const pretendedSnapshot = ({ family, name, namespace }: WhichPlacement, index: number): KubeObject => ({
  apiVersion: apiVersionOf(family.resourceSnapshot.group, family.resourceSnapshot.version),
  kind: family.resourceSnapshot.kind,
  metadata: {
    name: masterSnapshotName(name, index),
    ...within(namespace),
    uid: 'forecast',
    resourceVersion: 'forecast',
    generation: 1,
    labels: {
      [labels.parentPlacement]: name,
      [labels.resourceIndex]: String(index),
      [labels.isLatestSnapshot]: 'true',
    },
    annotations: { [annotations.numberOfResourceSnapshots]: '1' },
  },
});

/** The snapshots that the clusters have; empty = none. */
const hadBy = (bindings: readonly KubeObject[], clusters: ReadonlySet<string>): readonly string[] =>
  bindings.flatMap((each) => {
    const { targetCluster = '', resourceSnapshotName = '', state } = (each as Binding).spec ?? {};
    if (!clusters.has(targetCluster)) return [];
    return [state === 'Bound' ? resourceSnapshotName : ''];
  });

// ---- where it goes

interface Scheduling {
  readonly bindings: readonly KubeObject[];
  readonly members: readonly MemberCluster[];
  readonly policySnapshot: HubPolicySnapshot | undefined;
  readonly groups: Awaited<ReturnType<typeof readGroups>>;
  readonly now: number;
}

/** The bindings, with those that the scheduler would add or unschedule. */
function scheduled(
  { family, name, namespace }: WhichPlacement,
  { spec }: Placement,
  { bindings, members, policySnapshot, groups, now }: Scheduling,
): readonly KubeObject[] {
  const { numberOfClusters, ...recorded } = spec.policy ?? { numberOfClusters: undefined };
  const policy = spec.policy && (recorded as NonNullable<typeof spec.policy>);
  const isSamePolicy = policySnapshot !== undefined && policySnapshot.spec.policyHash === policyHashOf(policy);
  const { standings } = scheduleNow({
    groups: groups ?? [],
    policy: spec.policy,
    numberOfClusters: numberOfClusters ?? 0,
    snapshot: isSamePolicy ? (policySnapshot.metadata.name ?? '') : '',
    ...within(namespace),
    members,
    bindings: bindings.flatMap((each) => family.bindings.project?.(each) ?? []),
    now,
  });
  const removed = new Set(standings.flatMap(({ is, decision }) => (is === 'removed' ? [decision.clusterName] : [])));
  const has = new Set(bindings.map((each) => (each as Binding).spec?.targetCluster));
  const added = standings.filter(({ is, decision }) => is === 'picked' && !has.has(decision.clusterName));
  return [
    ...bindings.map((each) => {
      const binding = each as Binding;
      return removed.has(binding.spec?.targetCluster ?? '')
        ? ({ ...binding, spec: { ...binding.spec, state: 'Unscheduled' } } as KubeObject)
        : each;
    }),
    ...added.map(
      ({ decision }): KubeObject => ({
        apiVersion: apiVersionOf(family.binding.group, family.binding.version),
        kind: family.binding.kind,
        metadata: {
          name: `${name}-${decision.clusterName}`,
          ...within(namespace),
          uid: `forecast-${decision.clusterName}`,
          resourceVersion: 'forecast',
          generation: 1,
          labels: { [labels.parentPlacement]: name },
        },
        spec: {
          state: 'Scheduled',
          targetCluster: decision.clusterName,
          resourceSnapshotName: '',
          schedulingPolicySnapshotName: '',
          clusterDecision: decision,
        },
      }),
    ),
  ];
}
