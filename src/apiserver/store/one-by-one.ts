// Syncs of several logs on one drive. Side by side each takes about as long as both, and a client waits for the first.

/**
 * Runs one after the other, in the order of the calls, the first at once; a failure is reported to its caller and stops no other. The next one lets
 * those go first who have waited for the one that ended: what they write now goes along with it, instead of waiting for one more sync.
 */
export function oneByOne(): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let isBusy = false;
  return async (run) => {
    if (isBusy) await new Promise<void>((resolve) => waiting.push(resolve));
    isBusy = true;
    try {
      return await run();
    } finally {
      // The next one takes over: no other call comes in between.
      const next = waiting.shift();
      if (next === undefined) isBusy = false;
      else afterTurns(TURNS, next);
    }
  };
}

/** In the first turn of the event loop they hear of it, in the second they have written. */
const TURNS = 2;

function afterTurns(count: number, run: () => void): void {
  setImmediate(() => (count === 1 ? run() : afterTurns(count - 1, run)));
}
