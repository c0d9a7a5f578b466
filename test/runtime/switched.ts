// A server that can be switched off: calls get no answer, watches break off, and none can be opened.
import type { Transport } from '../../src/api/transport.ts';
import { LostError } from '../../src/base/errors.ts';

export interface Switched extends Transport {
  isAway: boolean;
  /** Calls and watches that came while it was away. */
  readonly missed: number;
}

export function switched(inner: Transport): Switched {
  let isAway = false;
  let missed = 0;
  let cut = new AbortController();
  const lost = (what: string) => {
    missed++;
    return new LostError(`no answer to a ${what}: connect ECONNREFUSED`);
  };
  return {
    get isAway() {
      return isAway;
    },
    set isAway(now) {
      if (now) cut.abort();
      else cut = new AbortController();
      isAway = now;
    },
    get missed() {
      return missed;
    },
    async call(request, signal) {
      if (isAway) throw lost(request.verb);
      return inner.call(request, signal);
    },
    async *watch(request, signal, onOpen) {
      if (isAway) throw lost('watch');
      const { signal: off } = cut;
      yield* inner.watch(request, AbortSignal.any([signal, off]), onOpen);
      if (off.aborted) throw new LostError('the watch broke off');
    },
  };
}
