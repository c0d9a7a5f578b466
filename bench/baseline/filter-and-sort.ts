// The least that scheduling can cost: one pass over the same MemberClusters that keeps those that fit, ranks them and sorts them, written by hand for
// one policy. It gives no reasons, knows no rounds, and reads every field once.
import type { MemberCluster } from '../../src/api/member-cluster.ts';

const TIMEOUT_MS = 300_000;

/** `isRanked`: with required labels and numbers, preferences and sorting by them. Returns how many are left. */
export function barePass(members: readonly MemberCluster[], isRanked: boolean, now: number): number {
  const left: { name: string; tier: string; nodes: number; score: number }[] = [];
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const member of members) {
    const nodes = Number(member.status?.properties?.['kubernetes-fleet.io/node-count']?.value);
    if (nodes < min) min = nodes;
    if (nodes > max) max = nodes;
    const { labels = {}, name = '' } = member.metadata;
    if (isRanked && (labels['env'] !== 'prod' || nodes < 4)) continue;
    const agent = member.status?.agentStatus?.find(({ type }) => type === 'MemberAgent');
    if (agent === undefined || now - Date.parse(agent.lastReceivedHeartbeat ?? '') > TIMEOUT_MS) continue;
    if (agent.conditions?.find(({ type }) => type === 'Joined')?.status !== 'True') continue;
    if (agent.conditions?.find(({ type }) => type === 'Healthy')?.status !== 'True') continue;
    if ((member.spec.taints?.length ?? 0) > 0) continue;
    left.push({ name, tier: labels['tier'] ?? '', nodes, score: 0 });
  }
  if (isRanked) {
    for (const row of left) {
      row.score = (row.tier === 'gold' ? 30 : 0) + Math.round(((row.nodes - min) / (max - min)) * 100);
    }
  }
  left.sort((a, b) => b.score - a.score || (a.name < b.name ? 1 : -1));
  return left.length;
}
