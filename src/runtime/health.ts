// The health of a running program, as data; `main` serves it. Live: no reconcile hangs (a restart would help). Ready:
// all sources are listed and their servers answer.
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

/** A reconcile waits only for API calls, which have timeouts. One that lasts longer than this hangs for good. */
const LONGEST_PASS_MS = 600_000;
/** The number of failed attempts after which a server counts as unreachable. */
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

/** The same format as the verbose health checks of Kubernetes. */
export const healthText = (of: string, { ok, facts }: Health): string =>
  [
    ...facts.map((fact) => `[${fact.ok ? '+' : '-'}]${fact.name} ${fact.detail}`),
    `${of} check ${ok ? 'passed' : 'failed'}`,
    '',
  ].join('\n');
