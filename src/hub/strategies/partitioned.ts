// The Partitioned strategy: its limits with defaults, its plan (planners/partitioned.ts), and its part of the status.
import type { PlacementEventReason } from '../../api/placement.ts';
import { MAX_LISTED_PARTITIONS, ROLLOUT_WORDS, type RolloutState, type RolloutWord } from '../../api/rollout-state.ts';
import type { EventText } from '../../runtime/actions.ts';
import {
  DEFAULT_MAX_NEW,
  type PartitionedLimits,
  type PartitionedOutcome,
  type PartitionTarget,
  partitioned as planPartitions,
} from '../planners/partitioned.ts';
import { isOutdated, type Row } from '../planners/planner.ts';
import { decidedIn, untilDecided } from './decided.ts';
import { type LimitsInput, strategyWith } from './strategy.ts';

export const partitioned = strategyWith({
  limitsOf: partitionedLimitsOf,
  plan({ rows: all, limits, now }) {
    const rows = untilDecided(all, limits.decided, limits.placement);
    const plan = planPartitions({ rows, limits, state: undefined, now });
    const { outcome } = plan;
    if (outcome === undefined) return { ...plan, summary: 'the strategy is invalid' };
    const rollout = rolloutStateOf(rows, outcome, new Set(limits.isPaused ? [] : plan.move));
    return {
      ...plan,
      rollout,
      partitions: outcome.partitions.map(({ name, targets, max }) => ({
        name,
        clusters: targets.map(({ cluster }) => cluster),
        maxUnavailable: max,
      })),
      summary: `${rollout.ready} of ${rollout.desiredReady} ready, ${rollout.unavailablePartitions} of ${outcome.partitions.length} partitions not ready, at most ${outcome.maxPartitions}`,
    };
  },
  news: ({ before, after }) => partitionNews(before?.rollout, after.rollout),
});

/** One Event when a partition starts and one when it is ready; the status has the counters in between. */
export function partitionNews(before: RolloutState | undefined, after: RolloutState | undefined): readonly EventText[] {
  return (after?.partitions ?? []).flatMap(({ name, count, maxUnavailable, notReady, state }, index): EventText[] => {
    const earlier = before?.partitions?.[index];
    const was = earlier?.name === name ? earlier.state : undefined;
    const told = (reason: PlacementEventReason, message: string): EventText[] => [{ type: 'Normal', reason, message }];
    if (state === 'NotReady' && was !== 'NotReady') {
      const message = `The rollout has reached partition "${name}": ${notReady} of ${count} clusters are not ready, at most ${maxUnavailable} may be`;
      return told('PlacementPartitionStarted', message);
    }
    if (state !== 'Ready' || was !== 'NotReady') return [];
    return told(
      'PlacementPartitionReady',
      `Partition "${name}" is ready: ${count - notReady} of ${count} clusters are ready`,
    );
  });
}

interface Limits extends PartitionedLimits {
  /** The plan is not carried out. */
  readonly isPaused: boolean;
  /** The clusters that the scheduler has decided on; undefined = unknown. */
  readonly decided: readonly string[] | undefined;
}

export function partitionedLimitsOf({ family, spec, policySnapshot, placement, groups }: LimitsInput): Limits {
  const { unreachablePolicy, pausedPolicy, mode, soakSeconds, maxNew, ...settings } = spec.strategy?.partitioned ?? {};
  return {
    ...settings,
    maxNew: maxNew ?? DEFAULT_MAX_NEW,
    mode: mode ?? 'FleetDocumented',
    excludesUnreachable: unreachablePolicy === 'Exclude',
    excludesPaused: pausedPolicy === 'Exclude',
    soakMs: (soakSeconds ?? 0) * 1000,
    isPaused: spec.strategy?.paused === true,
    decided: decidedIn(policySnapshot),
    groups,
    placement,
    binding: { group: family.binding.group, kind: family.binding.kind },
  };
}

/** The state of one cluster, by spec 09 §11; an unreachable cluster is NotReady whatever it reported last. */
export function wordOf(row: Row, isMoving = false): RolloutWord {
  if (row.undecided?.code === 'RenderFailed') return 'ErrApplied';
  if (row.state === 'scheduled') return isMoving ? 'WaitApplied' : 'Pending';
  if (!row.reachable) return 'NotReady';
  if (isMoving) return 'WaitApplied';
  if (isOutdated(row)) return 'OutOfSync';
  switch (row.health) {
    case 'available':
    case 'untracked':
    case 'diffed':
      return row.drifted === true ? 'Modified' : 'Ready';
    case 'starting':
      return 'NotReady';
    case 'failed':
    case 'diff-failed':
      return row.at === 'Available' ? 'NotReady' : 'ErrApplied';
    case 'progressing':
      return row.at === 'Available' ? 'NotReady' : 'WaitApplied';
    case 'unknown':
      return 'WaitApplied';
  }
}

function rolloutStateOf(
  rows: readonly Row[],
  { targets: all, partitions, pass, max, maxPartitions }: PartitionedOutcome,
  moving: ReadonlySet<string>,
): RolloutState {
  const live = rows.filter(({ state, deleting }) => !deleting && (state === 'scheduled' || state === 'bound'));
  const states = live.map((row) => wordOf(row, moving.has(row.key)));
  const count = (state: RolloutWord) => states.filter((each) => each === state).length;
  const unavailableIn = (targets: readonly PartitionTarget[]) =>
    targets.filter((each) => moving.has(each.key) || isDown(each)).length;
  const beyond = pass.verdicts.filter(({ isEntered, isBeyondLimit }) => isEntered && isBeyondLimit).length;
  return {
    state: ROLLOUT_WORDS.findLast((state) => states.some((each) => each === state)) ?? 'Ready',
    readyClusters: `${count('Ready')}/${live.length}`,
    desiredReady: live.length,
    ready: count('Ready'),
    notReady: count('NotReady'),
    pending: count('Pending'),
    outOfSync: count('OutOfSync'),
    modified: count('Modified'),
    waitApplied: count('WaitApplied'),
    errApplied: count('ErrApplied'),
    unavailable: unavailableIn(all),
    maxUnavailable: max,
    unavailablePartitions: beyond,
    maxUnavailablePartitions: maxPartitions,
    partitions: partitions.slice(0, MAX_LISTED_PARTITIONS).map(({ name, targets, max: limit }, index) => {
      const verdict = pass.verdicts[index];
      const isBeyondLimit = verdict?.isBeyondLimit ?? false;
      return {
        name,
        count: targets.length,
        maxUnavailable: limit,
        unavailable: unavailableIn(targets),
        notReady: verdict?.bad ?? 0,
        state: !isBeyondLimit ? 'Ready' : verdict?.isEntered === true ? 'NotReady' : 'Pending',
      };
    }),
  };
}

const isDown = ({ isPresent, isAvailable, isExcluded }: PartitionTarget): boolean =>
  isPresent && !isAvailable && !isExcluded;
