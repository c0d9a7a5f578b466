// `flotilla overrides placement/NAME [--cluster C]`: which overrides apply on which cluster, in which order, and what
// they change. Read-only.
import { unwrapped } from '../api/enveloped.ts';
import { type MemberCluster, memberCluster } from '../api/member-cluster.ts';
import { labels } from '../api/names.ts';
import type { KubeObject } from '../api/object.ts';
import { UserError } from '../base/errors.ts';
import { byName } from '../base/natural-order.ts';
import { writeYaml } from '../base/write-yaml.ts';
import { createClient } from '../client/client.ts';
import { applyOverrides } from '../hub/overrides/applying.ts';
import type { HubOverrideSnapshot } from '../hub/overrides/matching.ts';
import { overridesOn } from '../hub/overrides/overriding.ts';
import type { HubPlacement } from '../hub/placement-sources.ts';
import { diffBetween, type ObjectDiff } from '../insight/forecast/field-diff.ts';
import { labelsAmong, overridingNow } from '../insight/forecast/overrides-now.ts';
import { titleOf, type WhichPlacement } from '../insight/which-placement.ts';
import { within } from '../insight/which-run.ts';
import { readOverrides } from './reading/read-overrides.ts';
import { selectedNow } from './reading/selected-now.ts';
import type { Connected } from './server/connect.ts';
import { getPlacement } from './server/get-placement.ts';
import type { Print } from './server/target.ts';
import { EXIT } from './terminal/showing.ts';

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

export interface OverridesOptions {
  readonly cluster?: string;
  readonly output?: string;
}

interface OnCluster {
  readonly cluster: string;
  /** Snapshots in the order in which they are applied. */
  readonly overrides: readonly string[];
  readonly values?: Readonly<Record<string, string>>;
  readonly diff?: readonly ObjectDiff[];
  /** Why they cannot be applied. */
  readonly error?: string;
  readonly objects?: readonly KubeObject[];
}

/** Returns the exit code. */
export async function showOverrides(
  server: Server,
  which: WhichPlacement,
  { cluster, output }: OverridesOptions,
  print: Print,
): Promise<number> {
  const { family, name, namespace } = which;
  const client = createClient(server.transport, 'flotilla');
  const placement = await getPlacement(server, which);
  const [members, bindings, candidates] = await Promise.all([
    client.list(memberCluster).then(({ items }) => items as readonly MemberCluster[]),
    client
      .list(family.binding, { labels: `${labels.parentPlacement}=${name}`, ...within(namespace) })
      .then(({ items }) => items.flatMap((each) => family.bindings.project?.(each) ?? [])),
    readOverrides(client, { name, ...within(namespace) }),
  ]);
  const picked = bindings.map(({ spec }) => spec.targetCluster).toSorted(byName);
  if (cluster !== undefined && !picked.includes(cluster))
    throw new UserError('NotFound', `${titleOf(which)} does not pick a cluster "${cluster}"`);
  const { selected, notes } = await selectedNow(server, family.placements.project?.(placement) as HubPlacement);
  if (selected.state !== 'selected') {
    const why = 'message' in selected ? `: ${selected.message}` : '';
    throw new UserError('NothingSelected', `${titleOf(which)} selects nothing${why}`);
  }
  for (const each of [...notes, ...selected.notes]) print.warning(each);
  const labelsOf = labelsAmong(members);
  const now = overridingNow(family, placement, candidates, selected.content.objects, labelsOf);
  const objects = unwrapped(selected.content.objects);
  if (now?.pending !== undefined)
    print.warning(
      `${now.pending.on?.kind} "${now.pending.on?.name}" has changed, and the hub has taken no snapshot of it yet`,
    );
  const clusters = (cluster === undefined ? picked : [cluster]).map((each) =>
    onCluster(each, {
      snapshots: now?.snapshots ?? [],
      labels: labelsOf(each) ?? {},
      objects,
      selected: selected.content.objects,
    }),
  );
  if (output === 'json') print.line(JSON.stringify(clusters.map(withoutObjects), undefined, 2));
  else if (output === 'yaml') print.line(rendered(clusters));
  else for (const each of clusters) for (const line of linesOf(each)) print.line(line);
  return clusters.some(({ error }) => error !== undefined) ? EXIT.waiting : EXIT.complete;
}

interface ForecastInput {
  readonly snapshots: readonly HubOverrideSnapshot[];
  readonly labels: Readonly<Record<string, string>>;
  readonly objects: readonly KubeObject[];
  /** Including their envelopes. */
  readonly selected: readonly KubeObject[];
}

/** As the hub decides and renders it. */
function onCluster(cluster: string, ground: ForecastInput): OnCluster {
  const { snapshots, objects } = ground;
  const found = overridesOn(snapshots, cluster, ground.labels);
  if (found === undefined) return { cluster, overrides: [], diff: [], objects };
  const { clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [], overrideValues } = found;
  const isNamed = (namespace: string | undefined, name: string) => (each: HubOverrideSnapshot) =>
    each.metadata.namespace === namespace && each.metadata.name === name;
  const ordered = [
    ...wide.map((name) => snapshots.find(isNamed(undefined, name))),
    ...narrow.map(({ namespace, name }) => snapshots.find(isNamed(namespace, name))),
  ].flatMap((each) => each ?? []);
  const common = {
    cluster,
    overrides: [
      ...wide.map((name) => `ClusterResourceOverrideSnapshot "${name}"`),
      ...narrow.map(({ namespace, name }) => `ResourceOverrideSnapshot "${namespace}/${name}"`),
    ],
    values: overrideValues,
  };
  const applied = applyOverrides(objects, ordered, found);
  return applied.ok
    ? { ...common, diff: diffBetween(objects, applied.manifests, ground.selected), objects: applied.manifests }
    : { ...common, error: applied.message };
}

const withoutObjects = ({ objects: _objects, ...rest }: OnCluster) => rest;

/** The objects of each cluster, with a comment that names the cluster. */
const rendered = (clusters: readonly OnCluster[]): string =>
  clusters
    .flatMap(({ cluster, objects, error }) => [
      `# cluster ${cluster}${error === undefined ? '' : `: ${error}`}`,
      ...(objects ?? []).map((each) => `---\n${writeYaml(JSON.parse(JSON.stringify(each))).trimEnd()}`),
    ])
    .join('\n');

function linesOf({ cluster, overrides, diff = [], error }: OnCluster): readonly string[] {
  if (overrides.length === 0) return [`cluster ${cluster}: no override applies`];
  return [
    `cluster ${cluster}:`,
    ...overrides.map((each, at) => `  ${at + 1}. ${each}`),
    ...(error === undefined ? [] : [`  failed: ${error}`]),
    ...diff.flatMap(({ object, change, fields }) => [
      `  ${object}: ${change === 'removed' ? 'left out' : change}`,
      ...fields.map((field) => `    ${field}`),
    ]),
  ];
}
