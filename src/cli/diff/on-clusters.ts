// `flotilla diff placement/NAME`: how the objects on the clusters differ from their Works. Read on the member if the
// caller has a context of its name, else from the lists in the placement's status; the output says which. Read-only.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { Resource } from '../../api/kind.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { Placement, PlacementStatus } from '../../api/placement.ts';
import type { Transport } from '../../api/transport.ts';
import type { Work } from '../../api/work.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { byName } from '../../base/natural-order.ts';
import { createClient } from '../../client/client.ts';
import { objectName } from '../../insight/explain/explanation.ts';
import { ifRead } from '../../insight/reader.ts';
import { NAME, titleOf, type WhichPlacement } from '../../insight/which-placement.ts';
import type { Members } from '../reading/member-servers.ts';
import { createReader } from '../reading/readable.ts';
import type { Connected } from '../server/connect.ts';
import { getPlacement } from '../server/get-placement.ts';
import { differenceOf, nameOf, type ObjectDifference } from './difference.ts';

export type Comparison = ApplyStrategy['comparisonOption'];

/** Compares like the agent: the hub's object merged over the live one, without fields that servers fill in. */
export type Sides = (
  manifest: KubeObject,
  live: KubeObject | undefined,
  option: Comparison,
  patches: ApplyStrategy['comparePatches'],
) => { readonly hub: JsonObject; readonly member: JsonObject | undefined };

export interface ClusterDifference {
  readonly cluster: string;
  /** The resource snapshot of its Works, which may be older than the newest. */
  readonly snapshot?: string;
  /** Where it was read. */
  readonly from: 'member' | 'status';
  /** For `status`: why it was not read on the member. */
  readonly because?: string;
  /** How many objects were compared; unknown if only the status was read. */
  readonly compared?: number;
  readonly differences: readonly ObjectDifference[];
}

export interface Asked {
  readonly members: Pick<Members, 'at'>;
  readonly sides: Sides;
  readonly cluster?: string;
}

interface Comparing {
  kindOf(manifest: KubeObject): Resource | undefined;
}

export async function onClusters(
  server: Pick<Connected, 'transport' | 'catalogue'>,
  which: WhichPlacement,
  asked: Asked,
): Promise<readonly ClusterDifference[]> {
  const placement = await getPlacement(server, which);
  const reader = createReader(server, which);
  const bindings = (ifRead(await reader.bindings()) ?? []).filter(({ metadata }) => !metadata.deletionTimestamp);
  const listed = (placement.status?.placementStatuses ?? []).flatMap(({ clusterName }) => clusterName ?? []);
  const picked = [...new Set([...bindings.map(({ spec }) => spec.targetCluster), ...listed])].toSorted(byName);
  const { cluster } = asked;
  const kindOf = ({ apiVersion, kind }: KubeObject) => server.catalogue.byKind(apiVersion, kind);
  if (cluster !== undefined && !picked.includes(cluster))
    throw new UserError('NotFound', `${titleOf(which)} does not pick a cluster "${cluster}"`);
  const found: ClusterDifference[] = [];
  for (const each of cluster === undefined ? picked : [cluster]) {
    const own = bindings.filter(({ spec }) => spec.targetCluster === each);
    const works = (await Promise.all(own.map((binding) => reader.worksOf(binding)))).flatMap(
      (read) => ifRead(read) ?? [],
    );
    const snapshot = own[0]?.spec.resourceSnapshotName;
    found.push({
      ...(await onCluster(placement, each, works, { ...asked, kindOf })),
      ...(snapshot === undefined || snapshot === '' ? {} : { snapshot }),
    });
  }
  return found;
}

async function onCluster(
  placement: Placement,
  cluster: string,
  works: readonly Work[],
  { members, sides, kindOf }: Asked & Pick<Comparing, 'kindOf'>,
): Promise<ClusterDifference> {
  const entry = placement.status?.placementStatuses?.find(({ clusterName }) => clusterName === cluster);
  if (works.length === 0) return fromStatus(cluster, entry, 'its Works cannot be read');
  const member = members.at(cluster);
  if (typeof member === 'string') return fromStatus(cluster, entry, member);
  try {
    const { comparisonOption: option = 'PartialComparison', comparePatches: patches } =
      placement.spec.strategy?.applyStrategy ?? {};
    return {
      cluster,
      from: 'member',
      ...(await read(member, works, (each, live) => sides(each, live, option, patches), kindOf)),
    };
  } catch (error) {
    return fromStatus(cluster, entry, messageOf(error));
  }
}

async function read(
  member: Transport,
  works: readonly Work[],
  sides: (manifest: KubeObject, live: KubeObject | undefined) => ReturnType<Sides>,
  kindOf: (manifest: KubeObject) => Resource | undefined,
): Promise<Pick<ClusterDifference, 'compared' | 'differences'>> {
  const client = createClient(member, 'flotilla');
  const manifests = works.flatMap((work) =>
    ((work.spec.workload?.manifests ?? []) as unknown as readonly KubeObject[]).map((manifest, ordinal) => ({
      manifest,
      resource: kindOf(manifest) ?? reportedKind(work, ordinal),
    })),
  );
  const differences: ObjectDifference[] = [];
  for (const { manifest, resource } of manifests) {
    const { name = '', namespace } = manifest.metadata;
    const at = { name, ...(resource?.namespaced && namespace !== undefined ? { namespace } : {}) };
    const live = resource === undefined ? undefined : await client.find(resource, at);
    const { hub, member: present } = sides(manifest, live);
    differences.push(...differenceOf(nameOf(manifest), present, hub, { before: 'cluster', after: 'hub' }));
  }
  return { compared: manifests.length, differences };
}

/** For a kind that the hub does not serve, such as one in an envelope: as the agent reported it. */
function reportedKind({ status }: Work, ordinal: number): Resource | undefined {
  const found = status?.manifestConditions?.find(({ identifier }) => identifier.ordinal === ordinal)?.identifier;
  const { group = '', version = '', kind = '', resource: plural = '', namespace } = found ?? {};
  // These names are used in a URL, and the member wrote them.
  const isName = [plural, version, ...(group === '' ? [] : [group])].every((each) => NAME.test(each));
  return isName ? { group, version, kind, plural, namespaced: namespace !== undefined } : undefined;
}

type Entry = NonNullable<PlacementStatus['placementStatuses']>[number];

/** The last report of the agent, with the values in the status. */
function fromStatus(cluster: string, entry: Entry | undefined, because: string): ClusterDifference {
  const drifts = (entry?.driftedPlacements ?? []).map(({ observedDrifts, ...rest }) => ({
    ...rest,
    found: observedDrifts,
  }));
  const diffs = (entry?.diffedPlacements ?? []).map(({ observedDiffs, ...rest }) => ({
    ...rest,
    found: observedDiffs,
  }));
  return {
    cluster,
    from: 'status',
    because,
    differences: [...drifts, ...diffs].map(({ found = [], group = '', version, ...object }) => {
      const isMissing = found.length === 1 && found[0]?.path === '/';
      const lines = found.flatMap(({ path, valueInHub, valueInMember }) => [
        `  ${path}`,
        ...(valueInMember === undefined ? [] : [`-   ${valueInMember}`]),
        ...(valueInHub === undefined ? [] : [`+   ${valueInHub}`]),
      ]);
      const name = objectName(object);
      const title = `${name} (${apiVersionOf(group, version)}, observed ${object.observationTime})`;
      return { object: name, change: isMissing ? 'added' : 'changed', lines: [`--- ${title}`, ...lines] };
    }),
  };
}
