// What a running program says about itself, as data; `main` serves it. Alive: nothing is stuck, else a restart would help. Ready: everything
// that is watched is known and the servers answer.
import type { ManagerState } from './manager-state.ts';

export interface HealthFact {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Health {
  readonly ok: boolean;
  readonly facts: readonly HealthFact[];
}

/** A pass waits for calls only, and calls end. One that lasts longer hangs for good. */
const LONGEST_PASS_MS = 600_000;
/** Attempts that a server may fail before it counts as out of reach. */
const FAILURES_TO_NOTICE = 3;

export function liveness(state: ManagerState, now: number): Health {
  return health(
    state.controllers.map(({ name, busySince }) => {
      const lastsMs = busySince === undefined ? 0 : now - busySince;
      const ok = lastsMs < LONGEST_PASS_MS;
      return {
        name: `controller ${name}`,
        ok,
        detail: ok ? 'ok' : `one pass has lasted ${Math.floor(lastsMs / 1000)} s`,
      };
    }),
  );
}

export function readiness(state: ManagerState): Health {
  const facts: HealthFact[] = state.sources.map(({ name, optional, synced, failures, lastError }) => {
    const isCut = failures >= FAILURES_TO_NOTICE;
    const why = lastError === undefined ? '' : `: ${lastError}`;
    const detail = isCut ? `does not answer${why}` : synced ? 'ok' : `not yet listed${why}`;
    return { name: `source ${name}`, ok: optional || (synced && !isCut), detail };
  });
  return health([...facts, { name: 'running', ok: !state.stopped, detail: state.stopped ? 'stopping' : 'ok' }]);
}

const health = (facts: readonly HealthFact[]): Health => ({ ok: facts.every(({ ok }) => ok), facts });

/** As Kubernetes' own servers tell it when asked for details. */
export const healthText = (of: string, { ok, facts }: Health): string =>
  [
    ...facts.map((fact) => `[${fact.ok ? '+' : '-'}]${fact.name} ${fact.detail}`),
    `${of} check ${ok ? 'passed' : 'failed'}`,
    '',
  ].join('\n');
