// Reads the input of a run's forecast from the hub with the caller's permissions. Read-only.
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import { labels } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { ApiError } from '../../base/errors.ts';
import { createClient, type ListQuery } from '../../client/client.ts';
import { resourceIndexOf } from '../../hub/placement-sources.ts';
import type { ForecastInput } from '../../insight/forecast/forecast.ts';
import { objectsIn } from '../../insight/forecast/snapshot-objects.ts';
import { NAME } from '../../insight/which-placement.ts';
import { type WhichRun, within } from '../../insight/which-run.ts';
import { readOverrides } from '../reading/read-overrides.ts';
import type { Connected } from '../server/connect.ts';

type Server = Pick<Connected, 'transport'>;

/** `strategy`: one that is not on the hub yet, instead of the one that is. */
export async function readForecastInput(
  { transport }: Server,
  { family, name, namespace }: WhichRun,
  run: StagedUpdateRun,
  { strategy, now }: { readonly strategy?: KubeObject; readonly now: number },
): Promise<ForecastInput> {
  const client = createClient(transport, 'flotilla');
  const place = within(namespace);
  const { placementName, stagedRolloutStrategyName } = run.spec;
  const find = async (resource: ForecastInput['family']['run'], wanted: string): Promise<KubeObject | undefined> =>
    NAME.test(wanted) ? client.find(resource, { name: wanted, ...place }) : undefined;
  const list = async (
    resource: ForecastInput['family']['run'],
    query: ListQuery = {},
  ): Promise<readonly KubeObject[]> => (await client.list(resource, { ...place, ...query })).items;
  const ofPlacement = (resource: ForecastInput['family']['run'], query: ListQuery = {}) =>
    NAME.test(placementName)
      ? list(resource, { labels: `${labels.parentPlacement}=${placementName}`, ...query })
      : Promise.resolve([]);
  const overrides = await readOverrides(client, { name: placementName, ...place });
  const [placement, found, policySnapshots, resourceSnapshots, bindings, runs, requests, members] = await Promise.all([
    find(family.placement, placementName),
    strategy === undefined ? find(family.strategy, stagedRolloutStrategyName) : strategy,
    ofPlacement(family.policySnapshot),
    // Overrides are matched against the content of a revision.
    ofPlacement(family.resourceSnapshot, overrides.length === 0 ? { view: 'metadata' } : {}),
    ofPlacement(family.binding),
    list(family.run),
    list(family.approvalRequest, { labels: `${labels.targetUpdateRun}=${name}` }),
    client.list(memberCluster) as Promise<{ readonly items: readonly MemberCluster[] }>,
  ]);
  return {
    family,
    run,
    placement,
    strategy: found,
    policySnapshots,
    resourceSnapshots,
    bindings,
    runs: runs.filter((each) => (each as StagedUpdateRun).spec.placementName === placementName),
    requests,
    members: members.items,
    overrides,
    now,
  };
}

/** The objects of each revision, by the name of its master snapshot. Unreadable ones are missing. */
export async function readContents(
  { transport }: Server,
  { family, resourceSnapshots, run }: ForecastInput,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly KubeObject[]>> {
  const client = createClient(transport, 'flotilla');
  const contents = new Map<string, readonly KubeObject[]>();
  for (const snapshot of resourceSnapshots) {
    const { name = '', namespace } = snapshot.metadata;
    const index = resourceIndexOf(snapshot);
    if (!names.has(name) || index === undefined) continue;
    const query = {
      labels: `${labels.parentPlacement}=${run.spec.placementName},${labels.resourceIndex}=${index}`,
      ...within(namespace),
    };
    try {
      contents.set(name, objectsIn((await client.list(family.resourceSnapshot, query)).items));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return contents;
}
