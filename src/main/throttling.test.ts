import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import { ApiError } from '../base/errors.ts';
import { silentLog } from '../runtime/deps.ts';
import { tellThrottling } from './throttling.ts';

describe('a server that throttles', () => {
  test('is told of once a minute, with how often and what to do, and each refusal is counted', async () => {
    const clock = testClock();
    const metrics = new Registry();
    const lines: unknown[] = [];
    const log = { ...silentLog, warn: (message: string, fields: object) => lines.push({ message, ...fields }) };
    const [hub, member] = (['hub', 'member'] as const).map((server) => tellThrottling({ server, clock, log, metrics }));
    const refusal = new ApiError(429, 'TooManyRequests', 'please try again later');
    for (let i = 0; i < 5; i++) hub?.(refusal);
    member?.(refusal);
    clock.advance(59_999);
    hub?.(refusal);
    clock.advance(1);
    hub?.(refusal);
    const line = (server: string, refused: number) => ({
      message: 'the API server is throttling',
      server,
      refused,
      error: 'please try again later',
      next: expect.stringMatching(/FlowSchema.*PriorityLevelConfiguration/),
    });
    expect(lines).toEqual([line('hub', 1), line('member', 1), line('hub', 6)]);
    const counts = await metrics.metrics();
    expect(counts).toContain('flotilla_throttled_requests_total{server="hub"} 7');
    expect(counts).toContain('flotilla_throttled_requests_total{server="member"} 1');
  });

  test('is not blamed for a kind that it does not serve yet', async () => {
    const metrics = new Registry();
    const lines: string[] = [];
    const log = { ...silentLog, warn: (message: string) => lines.push(message) };
    const tell = tellThrottling({ server: 'hub', clock: testClock(), log, metrics });
    tell(new ApiError(429, 'TooManyRequests', 'storage is (re)initializing'));
    expect(lines).toEqual([]);
    expect(await metrics.metrics()).not.toContain('{server="hub"}');
  });
});
