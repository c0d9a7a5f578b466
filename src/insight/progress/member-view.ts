// The view of one member for users: health, heartbeat, size, taints, its placements, and since when it is leaving.
// Pure.
import type { Binding } from '../../api/binding.ts';
import type { MemberCluster, Taint } from '../../api/member-cluster.ts';
import { labels, properties } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { Work } from '../../api/work.ts';
import { stampMs } from '../../base/age.ts';
import { by } from '../../base/compare.ts';
import { type MemberRow, memberRow } from './overview.ts';

export interface PlacedHere {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly state: string;
  readonly isAvailable: boolean;
  /** Epoch ms. */
  readonly leavingSince?: number;
}

export interface MemberView extends MemberRow {
  readonly labels: Readonly<Record<string, string>>;
  /** Epoch ms. */
  readonly createdAt?: number;
  /** By the clock of the member. */
  readonly lastHeartbeat?: number;
  readonly heartbeatPeriodSeconds: number;
  readonly version?: string;
  readonly nodes?: string;
  readonly resources: readonly Amount[];
  readonly taints: readonly string[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
  readonly conditions: readonly ConditionLine[];
  readonly identity: string;
  readonly placements: readonly PlacedHere[];
  /** Works of the member that still have the finalizer of its agent. */
  readonly heldWorks: number;
  readonly leavingSince?: number;
}

export interface Amount {
  readonly name: string;
  readonly capacity: string;
  readonly allocatable: string;
  readonly available: string;
}

export interface ConditionLine {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Around {
  readonly bindings: readonly Binding[];
  readonly works: readonly Pick<Work, 'metadata'>[];
}

export const taintText = ({ key, value, effect }: Taint): string =>
  `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`;

export function memberView(member: MemberCluster, { bindings, works }: Around): MemberView {
  const { metadata, spec, status } = member;
  const { properties: facts = {}, resourceUsage, conditions = [] } = status ?? {};
  const agent = status?.agentStatus?.find(({ type }) => type === 'MemberAgent');
  const version = facts[properties.kubernetesVersion]?.value;
  const nodes = facts[properties.nodeCount]?.value;
  const { kind, name, namespace } = spec.identity;
  return {
    ...memberRow(member),
    ...(metadata.deletionTimestamp === undefined
      ? {}
      : { message: conditionOf(conditions, 'ReadyToJoin')?.message ?? '' }),
    labels: metadata.labels ?? {},
    ...moment('createdAt', metadata.creationTimestamp),
    ...moment('lastHeartbeat', agent?.lastReceivedHeartbeat),
    heartbeatPeriodSeconds: spec.heartbeatPeriodSeconds,
    ...(version === undefined ? {} : { version }),
    ...(nodes === undefined ? {} : { nodes }),
    resources: amounts(resourceUsage),
    taints: (spec.taints ?? []).map(taintText),
    properties: Object.entries(facts)
      .map(([each, { value }]) => ({ name: each, value }))
      .toSorted(by((each) => each.name)),
    conditions: conditions.map(({ type, status: is, reason, message }) => ({ type, status: is, reason, message })),
    identity: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
    placements: bindings
      .filter((each) => each.spec?.targetCluster === metadata.name)
      .map(placedHere)
      .toSorted(by((each) => `${each.namespace ?? ''}/${each.name}`)),
    heldWorks: works.filter((each) => (each.metadata.finalizers ?? []).length > 0).length,
    ...moment('leavingSince', metadata.deletionTimestamp),
  };
}

const moment = <Key extends string>(key: Key, text: string | undefined): { readonly [key in Key]?: number } => {
  const at = stampMs(text ?? '');
  return (Number.isNaN(at) ? {} : { [key]: at }) as { readonly [key in Key]?: number };
};

type Usage = NonNullable<NonNullable<MemberCluster['status']>['resourceUsage']>;

function amounts(usage: Usage | undefined): readonly Amount[] {
  const { capacity = {}, allocatable = {}, available = {} } = usage ?? {};
  const names = [...new Set([capacity, allocatable, available].flatMap((each) => Object.keys(each)))].toSorted();
  const text = (amount: string | number | undefined) => (amount === undefined ? '-' : String(amount));
  return names.map((name) => ({
    name,
    capacity: text(capacity[name]),
    allocatable: text(allocatable[name]),
    available: text(available[name]),
  }));
}

function placedHere({ kind, metadata, spec, status }: Binding): PlacedHere {
  const available = conditionOf(status?.conditions, 'Available');
  return {
    kind: metadata.namespace === undefined ? 'ClusterResourcePlacement' : 'ResourcePlacement',
    name: metadata.labels?.[labels.parentPlacement] ?? `(${kind} ${metadata.name})`,
    namespace: metadata.namespace,
    state: spec?.state ?? '',
    isAvailable: available?.status === 'True' && available.observedGeneration === metadata.generation,
    ...moment('leavingSince', metadata.deletionTimestamp),
  };
}
