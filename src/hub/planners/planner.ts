// The shape of every rollout strategy: bindings, the newest revision, limits and the time go in; which bindings move, which go, and for each
// one that waits the gate that holds it come out. Pure: the same plan decides the rollout, explains it in the status and in `flotilla why`,
// and, run forward over pretended time, forecasts it.
import type { Hold } from '../../api/hold.ts';
import type { Labels } from '../../api/object.ts';
import type { Seen } from '../../runtime/controller.ts';
import type { Revision } from '../orders/order.ts';

/**
 * How a binding is, by conditions that speak of its present generation:
 * `available` and `untracked` (cannot be tracked, time decides), `diffed` and `diff-failed` for reports, `failed` = it was tried and did not work,
 * `starting` = it is all there and does not work yet, `progressing` = under way, `unknown` = nothing said yet.
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
  /** The binding's name; a cluster has two rows while a predecessor is being deleted. */
  readonly key: string;
  readonly cluster: string;
  readonly binding?: Seen;
  readonly state: 'none' | 'scheduled' | 'bound' | 'unscheduled';
  readonly deleting: boolean;
  readonly has?: Revision;
  readonly wants: Revision;
  /** Why its desired state is unknown: then it stays as it is, and `wants` is what it has. */
  readonly undecided?: Hold;
  /** It waits for something outside of this rollout, such as a dependency; `wants` is what it gets afterwards. */
  readonly held?: Hold;
  readonly health: Health;
  /** When its health became what it is; 0 = unknown. */
  readonly since: number;
  /** The type of the condition that its health rests on. */
  readonly at?: string;
  /** What the condition behind `failed` or `progressing` says. */
  readonly why?: string;
  /** Its member has been told to follow it as it is; only of rows that are bound. */
  readonly released?: boolean;
  readonly reachable: boolean;
  /** Of one that is not reachable, if it is known. */
  readonly silentSince?: number;
  readonly labels: Labels;
  /** Placed objects were changed on the member. */
  readonly drifted?: true;
  /** Its MemberCluster is paused: partitioned rollouts leave it as it is. */
  readonly paused?: true;
  /** It began a batch of first copies: the uids of the other bindings in it. */
  readonly batch?: readonly string[];
}

export interface Plan<State> {
  /** Rows that get the wanted revision now, in order. */
  readonly move: readonly string[];
  readonly remove: readonly string[];
  /** By row: what holds it. A row that is where it should be and well has none. */
  readonly holds: Readonly<Record<string, Hold>>;
  /** Moves that must be recorded: the first one moves before all others and names the rest, of which some may move later. */
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

/** Content that differs from the desired state. The apply strategy reaches every cluster at once and makes no row outdated. */
export const isOutdated = ({ has, wants }: Row): boolean =>
  has === undefined || has.snapshot !== wants.snapshot || has.overrides !== wants.overrides;
