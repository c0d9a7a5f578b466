// Explains why each cluster of a partitioned rollout waits, as Holds: the gate, the cluster that keeps it closed, the
// numbers and the next step.
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { Gate } from './partition-pass.ts';
import type { PartitionedLimits, PartitionedOutcome, PartitionTarget } from './partitioned.ts';
import type { Row } from './planner.ts';

interface GatesInput {
  readonly outcome: PartitionedOutcome;
  readonly limits: PartitionedLimits;
  readonly moving: ReadonlySet<string>;
  readonly predecessors: ReadonlyMap<string, Row>;
}

const clusterRef = ({ cluster }: { readonly cluster: string }): ObjectRef => ({
  group: memberCluster.group,
  kind: memberCluster.kind,
  name: cluster,
});

export function partitionGates({ outcome, limits, moving, predecessors }: GatesInput) {
  const { partitions, pass, max, maxPartitions } = outcome;
  const isDown = (target: PartitionTarget) =>
    !target.isExcluded && (moving.has(target.key) || (target.isPresent && !target.isAvailable));
  const isBad = (target: PartitionTarget) =>
    !target.isExcluded && (isDown(target) || !target.isPresent || !target.isCurrent || target.isSoaking);
  const isMoving = ({ key }: PartitionTarget) => moving.has(key);
  /** The cluster to name: a failed one before one in progress. */
  const culpritIn = (targets: readonly PartitionTarget[], is: (target: PartitionTarget) => boolean) => {
    const those = targets.filter(is);
    return (
      those.find(({ row }) => row.health === 'failed') ??
      those.find(({ row, isPresent }) => isPresent && !row.reachable) ??
      those.find((target) => isDown(target)) ??
      those[0]
    );
  };
  const at = (
    code: Hold['code'],
    culprit: PartitionTarget | undefined,
    facts: Hold['facts'],
    next: string,
  ): Omit<Hold, 'subject'> => ({
    code,
    ...(culprit === undefined ? {} : { on: clusterRef(culprit) }),
    facts: { ...facts, ...(culprit === undefined ? {} : causeOf(culprit, moving)) },
    ...(culprit === undefined || culprit.row.since === 0 ? {} : { since: culprit.row.since }),
    next: culprit === undefined ? next : `${adviceFor(culprit)}, or ${next}`,
  });
  const factsOf = (index: number) => {
    const partition = partitions[index];
    const verdict = pass.verdicts[index];
    return {
      partition: partition?.name ?? '',
      size: partition?.targets.length ?? 0,
      maxUnavailable: partition?.max ?? 0,
      unavailable: verdict?.unavailable ?? 0,
      notReady: verdict?.bad ?? 0,
    };
  };
  const all = partitions.flatMap(({ targets }) => targets);
  const targetsOf = (index: number) => partitions[index]?.targets ?? [];
  const atGates = new Map<Gate, Omit<Hold, 'subject'>>();

  function waiting(target: PartitionTarget): Hold | undefined {
    const { row } = target;
    if (row.undecided !== undefined) return row.undecided;
    if (row.held !== undefined) return row.held;
    const predecessor = row.state === 'scheduled' ? predecessors.get(row.cluster) : undefined;
    if (predecessor !== undefined) return predecessorHold(target, predecessor, limits);
    const gate = pass.gates.get(target.key);
    if (gate === undefined) return undefined;
    if (gate.gate === 'Own') return { subject: clusterRef(target), ...ownGate(target) };
    let shared = atGates.get(gate);
    if (shared === undefined) {
      shared = atGate(gate);
      atGates.set(gate, shared);
    }
    return { subject: clusterRef(target), ...shared };
  }

  const ownGate = (target: PartitionTarget): Omit<Hold, 'subject'> =>
    target.row.paused === true
      ? at('Paused', undefined, { cluster: target.cluster }, `remove the pause of cluster "${target.cluster}"`)
      : at('Unreachable', target, {}, 'set unreachablePolicy to Count');

  /** The part of the Hold that all clusters at the gate share. */
  function atGate(gate: Exclude<Gate, { readonly gate: 'Own' }>): Omit<Hold, 'subject'> {
    const raise = 'raise maxUnavailable';
    switch (gate.gate) {
      case 'MaxNew': {
        const culprit = limits.maxNew === 0 ? undefined : culpritIn(all, isMoving);
        return at('MaxNew', culprit, { maxNew: limits.maxNew }, 'raise maxNew');
      }
      case 'BundleWindow':
        return at('BundleWindow', culpritIn(all, isDown), { maxUnavailable: max }, raise);
      case 'NoPartition':
        return at(
          'NoPartition',
          undefined,
          {},
          'add the cluster to a partition, or exclude it by the placement policy',
        );
      case 'PartitionWindow':
      case 'BatchGate':
        return at(gate.gate, culpritIn(targetsOf(gate.partition), isDown), factsOf(gate.partition), raise);
      case 'EarlierPartition':
        return at(
          'EarlierPartition',
          culpritIn(targetsOf(gate.partition), isBad),
          { ...factsOf(gate.partition), maxUnavailablePartitions: maxPartitions },
          'raise maxUnavailable or maxUnavailablePartitions',
        );
    }
  }

  /** A cluster that has the desired revision but is not available yet. */
  function own(target: PartitionTarget): Hold | undefined {
    const { row } = target;
    if (target.isServing && row.reachable) return undefined;
    return {
      code: row.reachable ? 'NotAvailable' : 'Unreachable',
      subject: clusterRef(row),
      on: clusterRef(row),
      facts: causeOf(target, moving),
      ...(row.since === 0 ? {} : { since: row.since }),
      next: adviceFor(target),
    };
  }

  return { waiting, own };
}

const causeOf = ({ row, key }: PartitionTarget, moving: ReadonlySet<string>): Hold['facts'] => ({
  cause: !row.reachable
    ? 'unreachable'
    : moving.has(key)
      ? 'moving'
      : row.state === 'scheduled'
        ? 'waiting'
        : row.health,
  ...(row.why === undefined || !row.reachable ? {} : { message: row.why }),
});

function adviceFor({ row: { cluster, reachable, health, at } }: PartitionTarget): string {
  if (!reachable)
    return `reconnect cluster "${cluster}", or remove it from the fleet (kubectl delete membercluster ${cluster})`;
  if (health === 'failed' && at === 'Overridden')
    return `correct the override that fails on cluster "${cluster}" (flotilla overrides shows it)`;
  return health === 'failed' ? `fix the failure on cluster "${cluster}"` : `wait for cluster "${cluster}"`;
}

function predecessorHold(target: PartitionTarget, before: Row, { binding }: PartitionedLimits): Hold {
  return {
    code: 'PredecessorLeaving',
    subject: clusterRef(target),
    on: {
      ...binding,
      ...(before.binding?.namespace === undefined ? {} : { namespace: before.binding.namespace }),
      name: before.key,
    },
    facts: { cluster: target.cluster, ...(before.reachable ? {} : { cause: 'unreachable' }) },
    next: before.reachable ? 'wait until the old copy is removed' : `reconnect cluster "${target.cluster}"`,
  };
}
