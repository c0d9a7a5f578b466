// The interface of every rollout strategy. Input: bindings, the newest revision, limits and the time; output: which
// bindings move, which are removed, and the gate of each one that waits. Pure: the same plan drives the rollout,
// explains it in the status and in `flotilla why`, and forecasts it by running over simulated time.
import type { Hold } from '../../api/hold.ts';
import type { Labels } from '../../api/object.ts';
import type { Seen } from '../../runtime/controller.ts';
import type { Revision } from '../orders/order.ts';

/**
 * The health of a binding by the conditions of its present generation: `available`; `untracked` (cannot be tracked,
 * time decides); `diffed` and `diff-failed` for reports; `failed` = tried and did not work; `starting` = applied but
 * not available yet; `progressing`; `unknown` = no condition yet.
 */
export type Health =
  | 'available'
  | 'untracked'
  | 'diffed'
  | 'diff-failed'
  | 'progressing'
  | 'starting'
  | 'failed'
  | 'unknown';

export interface Row {
  /** The name of the binding; a cluster has two rows while the predecessor of its binding is being deleted. */
  readonly key: string;
  readonly cluster: string;
  readonly binding?: Seen;
  readonly state: 'none' | 'scheduled' | 'bound' | 'unscheduled';
  readonly deleting: boolean;
  readonly has?: Revision;
  readonly wants: Revision;
  /** Why its desired state is unknown: it stays as it is, and `wants` is what it has. */
  readonly undecided?: Hold;
  /** It waits for something outside this rollout, such as a dependency; `wants` is what it gets afterwards. */
  readonly held?: Hold;
  readonly health: Health;
  /** When its health last changed; 0 = unknown. */
  readonly since: number;
  /** The type of the condition that decided the health. */
  readonly at?: string;
  /** The message of the condition behind `failed` or `progressing`. */
  readonly why?: string;
  /** The work generator may write its current content to the member; only for bound rows. */
  readonly released?: boolean;
  readonly reachable: boolean;
  /** Since when it is unreachable, if known. */
  readonly silentSince?: number;
  readonly labels: Labels;
  /** Placed objects have drifted on the member. */
  readonly drifted?: true;
  /** Its MemberCluster is paused: partitioned rollouts do not change it. */
  readonly paused?: true;
  /** It started a batch of first copies: the uids of the other bindings in it. */
  readonly batch?: readonly string[];
}

export interface Plan<State> {
  /** Rows that get the desired revision now, in rollout order. */
  readonly move: readonly string[];
  readonly remove: readonly string[];
  /** The hold of each row. A row that is up to date and healthy has none. */
  readonly holds: Readonly<Record<string, Hold>>;
  /**
   * A batch that must be recorded: its first row moves before all others and names the rest, some of which may move
   * later.
   */
  readonly batch?: readonly string[];
  readonly state: State;
  readonly wakeAt?: number;
  readonly done: boolean;
}

export type Planner<Limits, State, P extends Plan<State> = Plan<State>> = (input: {
  readonly rows: readonly Row[];
  readonly limits: Limits;
  readonly state: State;
  readonly now: number;
}) => P;

/**
 * The content differs from the desired state. A change of the apply strategy does not count: it is sent to every
 * cluster at once.
 */
export const isOutdated = ({ has, wants }: Row): boolean =>
  has === undefined || has.snapshot !== wants.snapshot || has.overrides !== wants.overrides;
