// The simulated cluster of one member of a fleet: its nodes and the behavior of its workloads.
import { profileOf } from '../sim/pretend/profile.ts';
import { type Pretend, type PretendDeps, startPretend } from '../sim/pretend/start.ts';
import type { FleetMember } from './fleet.ts';

const PODS_PER_NODE = 110;

export function pretendMember(
  deps: PretendDeps,
  member: FleetMember,
  options: { readonly statusOnly: boolean },
): Pretend {
  const { readySeconds, pullSeconds } = member.rules;
  return startPretend(deps, {
    sets: ['controllers', 'node'],
    statusOnly: options.statusOnly,
    nodes: Array.from({ length: member.nodes }, (_, index) => ({
      name: `${member.name}-node-${index + 1}`,
      cpu: member.cpu,
      memory: member.memory,
      pods: PODS_PER_NODE,
      ...(member.region === undefined ? {} : { labels: { 'topology.kubernetes.io/region': member.region } }),
    })),
    profile: profileOf({
      ...(readySeconds === undefined ? {} : { readyMs: readySeconds * 1000 }),
      ...(pullSeconds === undefined ? {} : { pullMs: pullSeconds * 1000 }),
    }),
  });
}
