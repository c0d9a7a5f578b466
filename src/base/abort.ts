// Reactions to an AbortSignal, without leaks and warnings.

/**
 * One signal ends hundreds of watches and thousands of calls; a separate listener for each would cost more than a call.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

function waitingFor(signal: AbortSignal): Set<() => void> {
  const known = waiting.get(signal);
  if (known !== undefined) return known;
  const runs = new Set<() => void>();
  waiting.set(signal, runs);
  const fire = () => {
    for (const run of runs) {
      runs.delete(run);
      run();
    }
  };
  signal.addEventListener('abort', fire, { once: true });
  return runs;
}

/** Called once when the signal fires, immediately if it already has. Returns a function that cancels. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  const runs = waitingFor(signal);
  const once = () => run();
  runs.add(once);
  return () => {
    runs.delete(once);
  };
}

/** The result of the promise, or throws `instead()` as soon as the signal fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, instead: () => Error): Promise<T> {
  let forget = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      forget = onAbort(signal, () => reject(instead()));
      promise.then(resolve, reject);
    });
  } finally {
    forget();
  }
}
