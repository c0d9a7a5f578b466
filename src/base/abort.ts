// Hearing an AbortSignal, without leaks and without noise.
import { setMaxListeners } from 'node:events';

/** Runs once when the signal fires, at once if it already has. Returns a function that cancels. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run();
    return () => {};
  }
  // One signal ends hundreds of watches; Node would take that for a leak and say so on standard error.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** The promise's outcome, or `instead()` thrown as soon as the signal fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, instead: () => Error): Promise<T> {
  let forget = () => {};
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(instead()));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}
