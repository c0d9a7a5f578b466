// The holds of a run and of its clusters, and the messages of its conditions. Changes nothing.
import { type Hold, rivalSentence } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { ObjectRef } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import type { Row } from './planner.ts';
import type { Gate, Rival, StagedLimits } from './staged-plan.ts';
import type { ClusterTree, StageTree } from './staged-tree.ts';

const MAX_NAMED = 3;
export const named = (clusters: readonly string[]): string =>
  `${clusters.slice(0, MAX_NAMED).join(', ')}${clusters.length > MAX_NAMED ? ', ...' : ''}`;

/** It has its desired revision, overrides and apply strategy. */
export const hasWanted = ({ has, wants, state, deleting }: Row): boolean =>
  has?.snapshot === wants.snapshot &&
  has.overrides === wants.overrides &&
  has.strategy === wants.strategy &&
  state === 'bound' &&
  !deleting;

const clusterRef = (name: string): ObjectRef => ({ group: memberCluster.group, kind: memberCluster.kind, name });

export const silence = ({ silentSince }: Row): string =>
  `it is unreachable${silentSince === undefined ? '' : ` since ${kubeTime(silentSince)}`}`;

/** Why a cluster is not done, with the object and the cause if its member reported them. */
export function causeOf(row: Row | undefined): string {
  if (row === undefined) return 'no status has been reported for it';
  if (row.state === 'unscheduled')
    return row.reachable ? 'its member is still cleaning up' : 'its member is unreachable';
  if (!row.reachable) return silence(row);
  return row.why ?? (row.health === 'unknown' ? 'it has not reported yet' : 'it is being updated');
}

export const gateWords = ({ code, on, until, facts }: Hold): string =>
  code === 'TimedWait'
    ? `until ${kubeTime(until ?? 0)}`
    : `for approval of ${on?.kind} "${on?.name}"${facts['hint'] === undefined ? '' : ` (${facts['hint']})`}`;

export const rivalWords = ({ ref: { kind, name }, isStopped }: Rival): string =>
  rivalSentence(`${kind} "${name}"`, isStopped);

/** The next steps for a person. */
export const waysPast = ({ isStopped, howToStart }: Rival): readonly string[] => [
  isStopped ? `let it continue (${howToStart})` : 'wait until it has ended',
  'delete it',
];

interface Used {
  readonly stage: StageTree;
  readonly underWay: readonly ClusterTree[];
  readonly max: number;
  /** The row of the first cluster in progress. */
  readonly first: Row | undefined;
}

export const stagedHolds = (limits: StagedLimits) => ({
  /** The message names the cause of the first row. */
  stuck(clusters: readonly ClusterTree[], first: Row | undefined): string {
    const names = named(clusters.map(({ clusterName }) => `"${clusterName}"`));
    const { kind, name } = limits.placement;
    return `${clusters.length === 1 ? 'cluster' : 'clusters'} ${names} not done after ${formatDuration(limits.stuckAfterMs)}: ${causeOf(first)}; see ${kind} "${name}"`;
  },

  /** The clusters that another client changed after this run updated them, and the client if it is the same for all. */
  taken(rows: readonly Row[]): string {
    const names = named(rows.map(({ cluster }) => `"${cluster}"`));
    const [what, whose] =
      rows.length === 1 ? [`cluster ${names}`, 'its binding'] : [`clusters ${names}`, 'their bindings'];
    const { has, wants } = rows[0] ?? {};
    const isKnown =
      has !== undefined && has.snapshot !== wants?.snapshot && rows.every((row) => row.has?.snapshot === has.snapshot);
    const by = isKnown ? limits.bringerOf?.(has.snapshot) : undefined;
    return `another client has changed the desired state of ${what}: ${by ?? `another run, or an edit of ${whose}`}`;
  },

  notDone(row: Row): Hold {
    const on = clusterRef(row.cluster);
    if (!row.reachable) {
      const without =
        limits.unreachableAfterMs === undefined
          ? ', or let the run continue without it (flotilla.dev/unreachable-after)'
          : '';
      return {
        code: 'Unreachable',
        subject: on,
        on,
        facts: { cause: 'unreachable' },
        ...(row.silentSince === undefined ? {} : { since: row.silentSince }),
        next: `reconnect cluster "${row.cluster}"${without}`,
      };
    }
    return {
      code: 'NotAvailable',
      subject: on,
      on,
      facts: {
        cause: hasWanted(row) ? row.health : 'moving',
        ...(row.why === undefined ? {} : { message: row.why }),
      },
      ...(row.since === 0 ? {} : { since: row.since }),
      next: `wait for cluster "${row.cluster}", or fix the objects that do not become available there`,
    };
  },

  concurrencyUsed(row: Row, { stage, underWay, max, first }: Used): Hold {
    const name = underWay[0]?.clusterName ?? '';
    return {
      code: 'ConcurrencyUsed',
      subject: clusterRef(row.cluster),
      on: clusterRef(name),
      facts: {
        stage: stage.stageName,
        inFlight: underWay.length,
        maxConcurrency: max,
        cause: first === undefined ? 'unknown' : first.reachable ? first.health : 'unreachable',
        ...(first?.why === undefined ? {} : { message: first.why }),
      },
      next: `wait for cluster "${name}"`,
    };
  },

  earlierStage: (row: Row, stage: StageTree): Hold => ({
    code: 'EarlierStage',
    subject: clusterRef(row.cluster),
    on: limits.run,
    facts: { stage: stage.stageName },
    next: `wait for stage "${stage.stageName}"`,
  }),

  /** `hint`: why an existing approval does not count. */
  approvalMissing(name: string, stage: StageTree, when: Gate['when'], hint: string | undefined): Hold {
    const { namespace } = limits.run;
    return {
      code: 'ApprovalMissing',
      subject: limits.run,
      on: { ...limits.approvalRequest, ...(namespace === undefined ? {} : { namespace }), name },
      facts: { stage: stage.stageName, when, ...(hint === undefined ? {} : { hint }) },
      next: `approve ${limits.approvalRequest.kind} "${name}"`,
    };
  },

  timedWait: (stage: StageTree, waitTime: string, when: Required<Pick<Hold, 'since' | 'until'>>): Hold => ({
    code: 'TimedWait',
    subject: limits.run,
    on: limits.run,
    facts: { stage: stage.stageName, waitTime },
    ...when,
    next: 'wait',
  }),

  otherRun: (rival: Rival): Hold => ({
    code: 'OtherRun',
    subject: limits.run,
    on: rival.ref,
    facts: rival.isStopped ? { state: 'Stop' } : {},
    next: waysPast(rival).join(', or '),
  }),

  removalPending({ key, cluster, reachable }: Row): Hold {
    const { namespace } = limits.run;
    return {
      code: 'RemovalPending',
      subject: clusterRef(cluster),
      on: { ...limits.binding, ...(namespace === undefined ? {} : { namespace }), name: key },
      facts: { cluster, ...(reachable ? {} : { cause: 'unreachable' }) },
      next: reachable ? 'wait: what is there is being removed' : `reconnect cluster "${cluster}"`,
    };
  },
});
