// Assigns a node to every waiting Pod: one that matches the Pod, accepts it, and has enough resources; of those the one
// with the most free resources. One decision for all waiting Pods, oldest first, so that two of them never get the same
// resources.

import type { Node, Pod, PodSpec } from '../../../api/builtin/shapes.ts';
import { kubeTime } from '../../../base/clock.ts';
import { by } from '../../../base/compare.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { byCreation, isFinished } from '../pods.ts';
import { conditionOf, isDeleting } from '../reading.ts';
import { pods } from '../resources.ts';
import { type Rule, statusWrites, type Write } from '../rule.ts';
import { matchesNode, repels } from './node-fit.ts';

export interface SchedulerRelated {
  readonly nodes: readonly Node[];
  /** The Pods that have a node. */
  readonly bound: readonly Pod[];
}

const SCHEDULER = 'default-scheduler';

/**
 * For the Pods without a node. A binding is written as a patch of `spec.nodeName`, which the kubelet's transport
 * translates.
 */
export const scheduler: Rule<readonly Pod[], SchedulerRelated> = (waiting, { nodes, bound }, now) => {
  const rooms = nodes.toSorted(by((node: Node) => node.metadata.name ?? '')).map((node) => roomOf(node, bound));
  const writes: Write[] = [];
  for (const pod of waiting.toSorted(byCreation)) {
    if (!isWaiting(pod)) continue;
    const { found, why } = choose(pod, rooms);
    if (found === undefined) {
      writes.push(...refuse(pod, why, now));
      continue;
    }
    take(found, needsOf(pod));
    const nodeName = found.node.metadata.name ?? '';
    writes.push({ do: 'patch', resource: pods, of: pod, merge: { spec: { nodeName } }, because: `fits ${nodeName}` });
  }
  return { writes };
};

const isWaiting = (pod: Pod): boolean =>
  !isDeleting(pod) &&
  !isFinished(pod) &&
  (pod.spec?.schedulerName ?? SCHEDULER) === SCHEDULER &&
  (pod.spec?.schedulingGates ?? []).length === 0;

type Amounts = Record<'cpu' | 'memory' | 'pods', bigint>;
const NAMES = ['cpu', 'memory', 'pods'] as const;
const WHAT: Readonly<Record<(typeof NAMES)[number], string>> = {
  cpu: 'Insufficient cpu',
  memory: 'Insufficient memory',
  pods: 'Too many pods',
};

interface Room {
  readonly node: Node;
  readonly all: Amounts;
  readonly left: Amounts;
}

const nano = (value: string | number | undefined): bigint =>
  value === undefined ? 0n : (parseQuantity(value)?.nano ?? 0n);

function roomOf(node: Node, bound: readonly Pod[]): Room {
  const has = node.status?.allocatable ?? {};
  const all: Amounts = { cpu: nano(has['cpu']), memory: nano(has['memory']), pods: nano(has['pods']) };
  const room: Room = { node, all, left: { ...all } };
  for (const pod of bound) if (pod.spec?.nodeName === node.metadata.name && !isFinished(pod)) take(room, needsOf(pod));
  return room;
}

function take({ left }: Room, needs: Amounts): void {
  for (const name of NAMES) left[name] -= needs[name];
}

const known = new WeakMap<PodSpec, Amounts>();

/** The requests of a Pod: the sum of its containers, or its largest init container if that is more. */
export function needsOf({ spec }: Pod): Amounts {
  if (spec === undefined) return { cpu: 0n, memory: 0n, pods: 0n };
  const before = known.get(spec);
  if (before !== undefined) return before;
  const needs: Amounts = { cpu: 0n, memory: 0n, pods: nano(1) };
  for (const name of ['cpu', 'memory'] as const) {
    for (const { resources } of spec.containers) needs[name] += nano(resources?.requests?.[name]);
    for (const { resources, restartPolicy } of spec.initContainers ?? []) {
      const amount = nano(resources?.requests?.[name]);
      // A sidecar keeps running, so it is added to the others.
      if (restartPolicy === 'Always') needs[name] += amount;
      else if (amount > needs[name]) needs[name] = amount;
    }
  }
  if (Object.isFrozen(spec)) known.set(spec, needs);
  return needs;
}

function choose(pod: Pod, rooms: readonly Room[]): { readonly found?: Room; readonly why: string } {
  const needs = needsOf(pod);
  const reasons = new Map<string, number>();
  const fitting = rooms.filter((room) => {
    const against = obstacles(pod, needs, room);
    for (const reason of against) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return against.length === 0;
  });
  const list = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted();
  const why = `0/${rooms.length} nodes are available${list.length === 0 ? '' : `: ${list.join(', ')}`}.`;
  if (fitting.length === 0) return { why };
  const [found] = fitting.toSorted((a, b) => use(a) - use(b));
  return { ...(found === undefined ? {} : { found }), why };
}

/**
 * The utilization of a node, 0 to 1: of memory and CPU the higher one; the number of Pods breaks ties. Equal nodes are
 * sorted by name.
 */
const use = ({ all, left }: Room): number => {
  const share = (name: (typeof NAMES)[number]) => (all[name] === 0n ? 1 : 1 - Number(left[name]) / Number(all[name]));
  return Math.max(share('cpu'), share('memory')) + share('pods') / 1000;
};

function obstacles({ spec }: Pod, needs: Amounts, { node, left }: Room): readonly string[] {
  if (spec === undefined) return ['node(s) had no use for it'];
  if (
    node.spec?.unschedulable === true &&
    repels({ ...node, spec: { unschedulable: true } }, spec.tolerations, ['NoSchedule'])
  ) {
    return ['node(s) were unschedulable'];
  }
  if (repels(node, spec.tolerations, ['NoSchedule', 'NoExecute'])) return ['node(s) had untolerated taint(s)'];
  if (!matchesNode(spec, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  return NAMES.filter((name) => needs[name] > 0n && needs[name] > left[name]).map((name) => WHAT[name]);
}

function refuse(pod: Pod, message: string, now: number): readonly Write[] {
  const old = conditionOf(pod.status?.conditions, 'PodScheduled');
  if (old?.reason === 'Unschedulable' && old.message === message) return [];
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? kubeTime(now)) : kubeTime(now),
    reason: 'Unschedulable',
    message,
  };
  const conditions = [...(pod.status?.conditions ?? []).filter((each) => each.type !== 'PodScheduled'), condition];
  return statusWrites(pods, pod, { status: { ...pod.status, conditions }, because: message });
}
