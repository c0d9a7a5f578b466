// An agent at rest calls the hub once in a heartbeat's period: the connection must outlast that, and must go before the server closes it.
import { expect, test } from 'vitest';
import { heartbeatPeriodSeconds } from '../src/api/heartbeat.ts';
import type { Schema } from '../src/api/schema.ts';
import { defaultLimits } from '../src/apiserver/http/limits.ts';
import { IDLE_MS } from '../src/client/http1.ts';
import { JITTER } from '../src/member/heartbeat/pulse.ts';

test('a connection is kept from one heartbeat to the next, and not until the server closes it', () => {
  const { default: seconds } = heartbeatPeriodSeconds.defaulted as Schema;
  const longestPeriodMs = Number(seconds) * 1000 * (1 + JITTER);
  expect(IDLE_MS).toBeGreaterThan(longestPeriodMs + 5000);
  expect(IDLE_MS).toBeLessThan(defaultLimits.keepAliveMs - 5000);
});
