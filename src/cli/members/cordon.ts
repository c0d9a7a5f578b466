// The taint that keeps new placements away from a drained cluster. KubeFleet's `kubectl fleet` sets and removes the
// same one.
import { type MemberCluster, memberCluster, type Taint } from '../../api/member-cluster.ts';
import { ApiError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Named } from '../../insight/titled.ts';
import type { Connected } from '../server/connect.ts';
import { getOr404 } from '../server/not-found.ts';

type Server = Pick<Connected, 'transport' | 'catalogue'>;

const isCordon = ({ key, value, effect }: Taint): boolean =>
  key === 'cordon-key' && value === 'cordon-value' && effect === 'NoSchedule';

const CORDON: Taint = { key: 'cordon-key', value: 'cordon-value', effect: 'NoSchedule' };

/** Returns whether anything was changed. */
export const cordon = (server: Server, cluster: string, signal?: AbortSignal): Promise<boolean> =>
  retaint(server, cluster, (taints) => (taints.some(isCordon) ? taints : [...taints, CORDON]), signal);

/** Removes only that taint. */
export const uncordon = (server: Server, cluster: string, signal?: AbortSignal): Promise<boolean> =>
  retaint(
    server,
    cluster,
    (taints) => (taints.some(isCordon) ? taints.filter((each) => !isCordon(each)) : taints),
    signal,
  );

/** Writes the taints that `change` returns; the same list means no change. Returns whether anything was changed. */
export async function retaint(
  server: Server,
  cluster: string,
  change: (taints: readonly Taint[]) => readonly Taint[],
  signal?: AbortSignal,
): Promise<boolean> {
  const at: Named = { resource: memberCluster, name: cluster };
  for (;;) {
    const member = (await getOr404(server, at, '', signal)) as MemberCluster;
    const before = member.spec?.taints ?? [];
    const after = change(before);
    if (after === before) return false;
    // The patch replaces the whole list, so it requires the resourceVersion that was read.
    const { resourceVersion } = member.metadata;
    const body = { metadata: { resourceVersion }, spec: { taints: after } } as unknown as Json;
    try {
      await server.transport.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'flotilla' }, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'Conflict')) throw error;
    }
  }
}
