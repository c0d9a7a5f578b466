// Reads the ClusterGroups of a hub, for plans.
import { clusterGroup } from '../../api/cluster-group.ts';
import { ApiError } from '../../base/errors.ts';
import type { createClient } from '../../client/client.ts';
import { clusterGroups, type HubClusterGroup } from '../../hub/groups/sources.ts';

/** undefined = the hub does not serve them, or they may not be read. */
export async function readGroups(
  client: ReturnType<typeof createClient>,
): Promise<readonly HubClusterGroup[] | undefined> {
  try {
    return (await client.list(clusterGroup)).items.flatMap((each) => clusterGroups.project?.(each) ?? []);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
