// Syncs of several logs on one drive. In parallel each takes about as long as both, and a client waits for the first.

/**
 * Runs calls one after the other, in their order, the first immediately; a failure rejects only its own call. Before
 * the next one starts, waiters for the finished one run first, so that their writes join it instead of waiting for one
 * more sync.
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
      // Hands over to the next call, so that no other one can start in between.
      const next = waiting.shift();
      if (next === undefined) isBusy = false;
      else afterTurns(TURNS, next);
    }
  };
}

/** In the first turn of the event loop they are notified, in the second they have written. */
const TURNS = 2;

function afterTurns(count: number, run: () => void): void {
  setImmediate(() => (count === 1 ? run() : afterTurns(count - 1, run)));
}
