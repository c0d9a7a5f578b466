// Injected time. `main` and `cli` use the wall clock; a simulated world has its own.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Called once at or after the given time. Returns a function that cancels. Traces show the name. */
  at(epochMs: number, name: string, run: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own time. Its timers do not keep a process alive. */
export const wallClock: Clock = {
  now: () => Date.now(),
  at(epochMs, _name, run) {
    // A due function runs in the next turn of the loop, without the millisecond of the shortest timer. Not unref'd:
    // otherwise the loop would sleep until another event.
    if (epochMs <= Date.now()) {
      const turn = setImmediate(run);
      return () => clearImmediate(turn);
    }
    let timer: NodeJS.Timeout;
    const arm = () => {
      const waitMs = Math.max(0, epochMs - Date.now());
      timer = waitMs > LONGEST_TIMER_MS ? setTimeout(arm, LONGEST_TIMER_MS) : setTimeout(run, waitMs);
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** Resolves when the clock reaches the time, or with 'aborted' when the signal fires. */
export function until(
  clock: Clock,
  epochMs: number,
  name: string,
  signal?: AbortSignal,
): Promise<'reached' | 'aborted'> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve('aborted');
    const onAbort = () => {
      cancel();
      resolve('aborted');
    };
    const cancel = clock.at(epochMs, name, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve('reached');
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Kubernetes' metav1.Time: RFC 3339 in whole seconds, UTC. */
export function kubeTime(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== last.second) last = { second, text: `${new Date(epochMs).toISOString().slice(0, 19)}Z` };
  return last.text;
}

/** Cached, because all writes within a second need the same text. */
let last = { second: Number.NaN, text: '' };

/** Kubernetes' metav1.MicroTime: RFC 3339 with six digits. */
export const kubeMicroTime = (epochMs: number): string => `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
