// Keeps a status within the size limit of the API server, which a thousand clusters with all messages would exceed.
// Above 512 KB the messages of True conditions are dropped; above 1 MiB clusters with only True conditions are counted
// instead of listed, and the status says so.
import type { Condition } from '../../api/conditions.ts';
import type { PlacementStatus } from '../../api/placement.ts';
import type { ClusterPlacementState } from '../../api/placement-state.ts';
import { jsonBytes } from '../status/json-bytes.ts';

const LEAN_ABOVE = 512_000;
const CUT_ABOVE = 1024 * 1024;

export function boundStatus(status: PlacementStatus): PlacementStatus {
  const clusters = status.placementStatuses ?? [];
  const bytes = jsonBytes(status);
  if (bytes <= LEAN_ABOVE) return status;
  const lean: PlacementStatus = { ...status, placementStatuses: clusters.map(withoutTrueMessages) };
  if (bytes - clusters.reduce((sum, cluster) => sum + trueMessageBytes(cluster), 0) <= CUT_ABOVE) return lean;
  const open = (lean.placementStatuses ?? []).filter((cluster) => !isAllTrue(cluster));
  const left = clusters.length - open.length;
  return fitting({ ...lean, placementStatuses: open }, left, clusters.length);
}

const trueMessageBytes = ({ conditions = [] }: ClusterPlacementState): number =>
  conditions.reduce((sum, { status, message }) => (status === 'True' ? sum + Buffer.byteLength(message) : sum), 0);

const isAllTrue = ({ conditions = [] }: ClusterPlacementState): boolean =>
  conditions.length > 0 && conditions.every(({ status }) => status === 'True');

const withoutTrueMessages = (cluster: ClusterPlacementState): ClusterPlacementState => ({
  ...cluster,
  ...(cluster.conditions === undefined ? {} : { conditions: cluster.conditions.map(withoutMessageIfTrue) }),
});

/** Without an object spread, which would dominate the cost of a large status. */
function withoutMessageIfTrue(condition: Condition): Condition {
  const { type, status, reason, observedGeneration, lastTransitionTime } = condition;
  if (status !== 'True') return condition;
  return observedGeneration === undefined
    ? { type, status, reason, message: '', lastTransitionTime }
    : { type, status, reason, message: '', observedGeneration, lastTransitionTime };
}

/** If the status is still too large, drops the lists of objects, then the last clusters. */
function fitting(status: PlacementStatus, notListed: number, total: number): PlacementStatus {
  const said = saying(
    { ...status, notListed: { ready: notListed } },
    `${notListed} of ${total} clusters, all True, are not listed`,
  );
  if (jsonBytes(said) <= CUT_ABOVE) return said;
  const bare = (status.placementStatuses ?? []).map(
    ({ failedPlacements: _f, driftedPlacements: _d, diffedPlacements: _i, ...cluster }): ClusterPlacementState =>
      cluster,
  );
  let room = CUT_ABOVE - jsonBytes({ ...status, placementStatuses: [] }) - 1024;
  const listed: ClusterPlacementState[] = [];
  for (const cluster of bare) {
    room -= jsonBytes(cluster) + 1;
    if (room < 0) break;
    listed.push(cluster);
  }
  const others = bare.length - listed.length;
  return saying(
    { ...status, placementStatuses: listed, notListed: { ready: notListed, others } },
    `${notListed} of ${total} clusters, all True, are not listed, nor are ${others} others and the objects that failed`,
  );
}

function saying(status: PlacementStatus, what: string): PlacementStatus {
  const [first, ...others] = status.conditions ?? [];
  if (first === undefined) return status;
  return {
    ...status,
    conditions: [{ ...first, message: `${first.message} (the status would be too large: ${what})` }, ...others],
  };
}
