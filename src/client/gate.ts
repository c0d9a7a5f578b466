// Limits parallelism: a maximum number enters at once; the others wait in order.
import { onAbort } from '../base/abort.ts';

export interface Gate {
  /**
   * Resolves with a function to leave, which must be called once. Rejects with `instead()` if the signal fires first.
   */
  enter(signal: AbortSignal, instead: () => Error): Promise<() => void>;
}

export function createGate(max: number): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;
  const leave = () => {
    inside--;
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    }
  };
  const wayOut = () => {
    inside++;
    let isOut = false;
    return () => {
      if (!isOut) leave();
      isOut = true;
    };
  };
  return {
    async enter(signal, instead) {
      if (signal.aborted) throw instead();
      if (inside < max) return wayOut();
      return new Promise((resolve, reject) => {
        const next = () => {
          forget();
          resolve(wayOut());
        };
        waiting.add(next);
        const forget = onAbort(signal, () => {
          waiting.delete(next);
          reject(instead());
        });
      });
    },
  };
}
