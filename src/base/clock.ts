// Time, injected. The wall clock is used in `main` and `cli`; a simulated world brings its own.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once at or after the given moment. Returns a function that cancels. The name says in traces what fired. */
  at(epochMs: number, name: string, run: () => void): () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own time. Its timers do not keep a process alive. */
export const wallClock: Clock = {
  now: () => Date.now(),
  at(epochMs, _name, run) {
    // What is due already waits for the loop's turn, not for the millisecond that the shortest timer takes. Not unref'd: the loop would sleep
    // until something else happens.
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

/** Resolves when the clock reaches the moment, or at once with 'aborted' when the signal fires. */
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

/** Every write of a second asks for the same text. */
let last = { second: Number.NaN, text: '' };

/** Kubernetes' metav1.MicroTime: RFC 3339 with six digits. */
export const kubeMicroTime = (epochMs: number): string => `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
