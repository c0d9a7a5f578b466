// How often the status of a run is written. Guarantees: at most ten times within any second; what only says that clusters have moved is gathered for
// 100 ms; a turn (a stage, a gate or the run itself becomes something else) is told as soon as the second allows, since the next stage waits for it.
import type { Condition } from '../../api/conditions.ts';
import { type StagedUpdateRunStatus, stagesIn, tasksOf } from '../../api/staged-update-run.ts';
import { deepEqual } from '../../base/json.ts';
import { STATUS_INTERVAL_MS } from '../status/status-throttle.ts';

type Status = StagedUpdateRunStatus | undefined;

/** The earliest moments of the next write. */
export interface Due {
  readonly progress: number;
  readonly turn: number;
}

/** In memory: after a restart it may be written at once. */
export interface RunPace {
  /** Notes what is there now. */
  seen(key: string, status: Status, now: number): Due;
  forget(key: string): void;
  readonly size: number;
}

const SECOND_MS = 1000;
const MAX_PER_SECOND = SECOND_MS / STATUS_INTERVAL_MS;

export function createRunPace(): RunPace {
  /** When each was seen to have changed, the last ten times. */
  const noted = new Map<string, { readonly status: Status; readonly times: readonly number[] }>();
  return {
    seen(key, status, now) {
      const last = noted.get(key);
      const isSame = last === undefined || last.status === status || deepEqual(last.status ?? {}, status ?? {});
      // If the clock was set back, nothing has to wait for hours.
      const before = (last?.times ?? []).map((time) => Math.min(time, now));
      const times = isSame ? before : [...before, now].slice(-MAX_PER_SECOND);
      noted.set(key, { status, times });
      const turn = times.length < MAX_PER_SECOND ? now : (times[0] as number) + SECOND_MS;
      const latest = times.at(-1);
      return { turn, progress: latest === undefined ? turn : Math.max(turn, latest + STATUS_INTERVAL_MS) };
    },
    forget: (key) => {
      noted.delete(key);
    },
    get size() {
      return noted.size;
    },
  };
}

/** Whether a stage, a gate or the run itself becomes something else; that clusters do so alone is none. */
export const isTurn = (before: Status, after: StagedUpdateRunStatus): boolean =>
  before === undefined || turnsOf(before) !== turnsOf(after);

const turnsOf = (status: StagedUpdateRunStatus): string =>
  [status, ...stagesIn(status).flatMap((stage) => [stage, ...tasksOf(stage)])]
    .map(({ conditions }) => saidIn(conditions))
    .join('|');

const saidIn = (conditions: readonly Condition[] = []): string =>
  conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).join();
