// Writing the status of a MemberCluster, if there is anything to write, and telling of what changed with it.
import type { MemberStatus } from '../../api/member-status.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { JsonObject } from '../../base/json.ts';
import { threeWayPatch } from '../../base/three-way-merge.ts';
import { type EventText, patchStatus, recordEvent, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { memberClusters } from '../sources.ts';
import type { Observed } from './observed.ts';

/** None when the status is what it should be. The Events come after the write: a write that conflicts has nothing to report yet. */
export function writeStatus(observed: Observed, wanted: MemberStatus): readonly (readonly Action[])[] {
  const { cluster } = observed;
  const live = (cluster.status ?? {}) as JsonObject;
  const difference = threeWayPatch({ last: live, wanted: wanted as JsonObject, live });
  if (Object.keys(difference).length === 0) return [];
  const tellings = newsIn(cluster.status, wanted).map((news) => recordEvent(memberClusters, cluster, news));
  return [
    [patchStatus(seen(memberClusters, cluster), difference, because(difference))],
    ...(tellings.length === 0 ? [] : [tellings]),
  ];
}

const because = (difference: JsonObject): string =>
  `the status is out of date in ${Object.keys(difference).sort().join(', ')}`;

const TOLD = ['ReadyToJoin', 'Joined', 'Healthy'] as const;

/** What a person wants to hear of. That a new member has not joined yet is no news. */
function newsIn(before: MemberStatus | undefined, after: MemberStatus): readonly EventText[] {
  return TOLD.flatMap((type): readonly EventText[] => {
    const now = conditionOf(after.conditions, type);
    if (now === undefined) return [];
    const was = conditionOf(before?.conditions, type);
    const { reason, message } = now;
    switch (type) {
      case 'ReadyToJoin':
        if (was?.status === now.status && was.reason === reason) return [];
        // That it left is told with Joined.
        if (reason === 'MemberClusterNotReadyToJoin') return [];
        return [{ type: now.status === 'True' || reason === 'Leaving' ? 'Normal' : 'Warning', reason, message }];
      case 'Joined':
        if (was?.status === now.status || (was === undefined && now.status === 'Unknown')) return [];
        return [{ type: now.status === 'Unknown' ? 'Warning' : 'Normal', reason, message }];
      case 'Healthy':
        if (reason === 'MemberUnreachable') {
          return was?.reason === reason ? [] : [{ type: 'Warning', reason, message }];
        }
        return was?.reason === 'MemberUnreachable'
          ? [{ type: 'Normal', reason: 'MemberReachable', message: 'a heartbeat was seen again' }]
          : [];
      default:
        return [];
    }
  });
}
