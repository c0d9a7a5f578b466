// A Node: it exists, it is ready, and its Lease is renewed. An idle Node costs one small write per lease period.

import type { Lease, Node, NodeStatus } from '../../../api/builtin/shapes.ts';
import { kubeMicroTime, kubeTime } from '../../../base/clock.ts';
import { numberOf } from '../names.ts';
import type { Profile } from '../profile.ts';
import { isDeleting, timeOf } from '../reading.ts';
import { leases, nodes } from '../resources.ts';
import { earliest, mergeBetween, nothing, type Outcome, type Rule, type Write } from '../rule.ts';

export interface NodeShape {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
  readonly pods: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Marks the Nodes of the simulated cluster: `configured` = created by us; any other value = a user wants us to run it.
 */
export const PRETEND_LABEL = 'flotilla.dev/pretend';
const CONFIGURED = 'configured';
export const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
const NOT_READY = 'node.kubernetes.io/not-ready';

export interface NodeRelated {
  readonly node?: Node;
  readonly lease?: Lease;
}

/** Keeps a Node as configured; undefined = it is not configured. */
export const node: Rule<NodeShape | undefined, NodeRelated> = (shape, related, now, profile) => {
  const { node: object } = related;
  if (object === undefined) return shape === undefined ? nothing : { writes: [register(shape, now)] };
  const label = object.metadata.labels?.[PRETEND_LABEL];
  if (label === undefined || isDeleting(object)) return nothing;
  if (shape === undefined && label === CONFIGURED) {
    return { writes: [{ do: 'delete', resource: nodes, of: object, because: 'no longer configured' }] };
  }
  return keep(object, shape ?? shapeOf(object), related.lease, now, profile);
};

/** A Node that a user created has the size in its status. */
function shapeOf({ metadata, status }: Node): NodeShape {
  const { cpu = '4', memory = '8Gi', pods = '110' } = status?.capacity ?? {};
  return { name: metadata.name ?? '', cpu, memory, pods: Number(pods) || 110 };
}

const labelsOf = ({ name, labels }: NodeShape): Readonly<Record<string, string>> => ({
  'kubernetes.io/hostname': name,
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  ...labels,
});

function register(shape: NodeShape, now: number): Write {
  const object: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: shape.name, labels: { ...labelsOf(shape), [PRETEND_LABEL]: CONFIGURED } },
    spec: {},
    status: statusOf(shape, undefined, now),
  };
  return { do: 'create', resource: nodes, object, because: 'configured' };
}

function keep(object: Node, shape: NodeShape, lease: Lease | undefined, now: number, profile: Profile): Outcome {
  const writes: Write[] = [];
  const posted = timeOf(object.status?.conditions?.find((each) => each.type === 'Ready')?.lastHeartbeatTime);
  const isDue = now >= posted + profile.nodeStatusMs;
  const status = mergeBetween(object.status ?? {}, {
    ...object.status,
    ...statusOf(shape, object.status, isDue ? now : posted),
  });
  // Admission marks a new Node as not ready, and there is no node controller that removes the taint.
  const taints = object.spec?.taints?.filter((taint) => taint.key !== NOT_READY) ?? [];
  const labels = mergeBetween(object.metadata.labels ?? {}, { ...object.metadata.labels, ...labelsOf(shape) });
  if (taints.length !== (object.spec?.taints ?? []).length || labels !== undefined) {
    const merge = {
      spec: { taints: taints.length === 0 ? null : (taints as never) },
      ...(labels === undefined ? {} : { metadata: { labels } }),
    };
    writes.push({ do: 'patch', resource: nodes, of: object, merge, because: 'ready for Pods' });
  } else if (status !== undefined) {
    writes.push({
      do: 'patch',
      resource: nodes,
      of: object,
      merge: { status },
      subresource: 'status',
      because: 'heartbeat',
    });
  }
  if (profile.leaseMs <= 0) return { writes, ...earliest(Math.max(now, posted) + profile.nodeStatusMs) };
  const renewedAt = timeOf(lease?.spec?.renewTime);
  const isRenewed = lease !== undefined && now < renewedAt + profile.leaseMs;
  if (!isRenewed) writes.push(renew(object, lease, now));
  const nextStatus = (isDue ? now : posted) + profile.nodeStatusMs;
  return { writes, ...earliest((isRenewed ? renewedAt : now) + profile.leaseMs, nextStatus) };
}

function renew({ metadata }: Node, lease: Lease | undefined, now: number): Write {
  const { name = '', uid = '' } = metadata;
  const renewTime = kubeMicroTime(now);
  if (lease !== undefined) {
    return { do: 'patch', resource: leases, of: lease, merge: { spec: { renewTime } }, because: 'alive' };
  }
  const object: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime } as NonNullable<Lease['spec']>,
  };
  return { do: 'create', resource: leases, object, because: 'alive' };
}

const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

function statusOf({ name, cpu, memory, pods }: NodeShape, old: NodeStatus | undefined, postedAt: number): NodeStatus {
  const resources = { cpu, memory, pods: String(pods) };
  const since = (type: string, status: string) => {
    const before = old?.conditions?.find((each) => each.type === type);
    return before?.status === status ? (before.lastTransitionTime ?? kubeTime(postedAt)) : kubeTime(postedAt);
  };
  return {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: addressOf(name) },
      { type: 'Hostname', address: name },
    ],
    conditions: CONDITIONS.map(([type, status, reason, message]) => ({
      type,
      status,
      lastHeartbeatTime: kubeTime(postedAt),
      lastTransitionTime: since(type, status),
      reason,
      message,
    })),
    nodeInfo: {
      machineID: name,
      systemUUID: name,
      bootID: name,
      kernelVersion: '6.0.0-pretend',
      osImage: 'Pretend Linux',
      containerRuntimeVersion: 'pretend://1.0.0',
      kubeletVersion: 'v1.34.4',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}

/** In the address range reserved for benchmarks, so no real machine has it. */
export const addressOf = (name: string): string => {
  const host = numberOf(name, 65_534) + 1;
  return `198.18.${host >> 8}.${host & 255}`;
};

/** `count` equal nodes of a cluster. */
export const someNodes = (
  cluster: string,
  count: number,
  given: Partial<Omit<NodeShape, 'name'>> & { readonly region?: string } = {},
): readonly NodeShape[] => {
  const { region, labels, cpu = '4', memory = '16Gi', pods = 110 } = given;
  return Array.from({ length: count }, (_, index) => ({
    name: `${cluster}-node-${index + 1}`,
    cpu,
    memory,
    pods,
    labels: {
      ...(region === undefined
        ? {}
        : { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': `${region}-${(index % 3) + 1}` }),
      ...labels,
    },
  }));
};
