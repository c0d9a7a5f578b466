import { describe, expect, test } from 'vitest';
import { healthText, liveness, readiness } from './health.ts';
import type { ControllerState, ManagerState, SourceState } from './manager-state.ts';

const source: SourceState = {
  name: 'hub/v1/configmaps',
  optional: false,
  phase: 'watching',
  synced: true,
  lists: 1,
  watches: 1,
  failures: 0,
  heardAt: 0,
  revision: '1',
  items: 0,
  tombstones: 0,
};
const controller: ControllerState = {
  name: 'c',
  ready: true,
  waiting: 0,
  running: 0,
  failing: 0,
  memories: 0,
  remembered: 0,
  blocked: 0,
  holds: 0,
  dependencies: 0,
  nextWakeAt: undefined,
  passes: 0,
  busySince: undefined,
};
const state = (of: Partial<SourceState>, and: Partial<ControllerState> = {}, stopped = false): ManagerState => ({
  sources: [{ ...source, ...of }],
  controllers: [{ ...controller, ...and }],
  contents: { bytes: 0, entries: 0, inFlight: 0 },
  events: { pending: 0, known: 0 },
  stopped,
});

describe('health', () => {
  test.each([
    { it: 'when everything is known', of: state({}), ok: true },
    { it: 'before the first list', of: state({ synced: false }), ok: false },
    {
      it: 'when an optional source cannot be listed',
      of: state({ synced: false, failures: 9, optional: true }),
      ok: true,
    },
    { it: 'after one cut watch', of: state({ failures: 1 }), ok: true },
    { it: 'when the server is out of reach', of: state({ failures: 3, lastError: 'refused' }), ok: false },
    { it: 'while stopping', of: state({}, {}, true), ok: false },
  ])('ready $it: $ok', ({ of, ok }) => {
    expect(readiness(of).ok).toBe(ok);
  });

  test('alive unless a pass hangs', () => {
    expect(liveness(state({}, { busySince: 0 }), 599_000).ok).toBe(true);
    expect(liveness(state({}, { busySince: 0 }), 600_000).ok).toBe(false);
  });

  test('says it in lines', () => {
    expect(healthText('readyz', readiness(state({ failures: 3, lastError: 'refused' })))).toBe(
      '[-]source hub/v1/configmaps does not answer: refused\n[+]running ok\nreadyz check failed\n',
    );
  });
});
