// Syncs of several logs on one drive. Side by side each takes about as long as both, and it is the first that somebody waits for.

/** Runs one after the other, in the order of the calls, the first at once; a failure is told to its caller and stops nobody. */
export function oneByOne(): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let isBusy = false;
  return async (run) => {
    if (isBusy) await new Promise<void>((resolve) => waiting.push(resolve));
    isBusy = true;
    try {
      return await run();
    } finally {
      // Whoever is next takes over: nobody comes in between.
      const next = waiting.shift();
      if (next === undefined) isBusy = false;
      else next();
    }
  };
}
