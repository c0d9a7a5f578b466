// Syncs of several logs on one drive. Side by side each takes about as long as both, and it is the first that somebody waits for.

/** Runs one after the other, in the order of the calls; a failure is told to its caller and stops nobody. */
export function oneByOne(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => {
    const next = last.then(run);
    last = next.catch(() => {});
    return next;
  };
}
