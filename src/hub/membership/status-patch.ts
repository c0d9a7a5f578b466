// Writes the status of a MemberCluster if it has changed, and records its Events.
import type { MemberStatus } from '../../api/member-status.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { JsonObject } from '../../base/json.ts';
import { threeWayPatch } from '../../base/three-way-merge.ts';
import { type EventText, patchStatus, recordEvent, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { memberClusters } from '../sources.ts';
import type { Observed } from './observed.ts';

/** Empty if the status is up to date. Events follow the write: if it conflicts, there is nothing to report yet. */
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

/** The Events for users. A new member that has not joined yet is not reported. */
function newsIn(before: MemberStatus | undefined, after: MemberStatus): readonly EventText[] {
  return TOLD.flatMap((type): readonly EventText[] => {
    const now = conditionOf(after.conditions, type);
    if (now === undefined) return [];
    const was = conditionOf(before?.conditions, type);
    const { reason, message } = now;
    switch (type) {
      case 'ReadyToJoin':
        if (was?.status === now.status && was.reason === reason) return [];
        // Joined reports that the member left.
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
