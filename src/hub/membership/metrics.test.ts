import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import { aCluster, aCondition } from './member.testing.ts';
import { memberMetrics } from './metrics.ts';

const member = (joined?: Condition['status'], healthy: Condition['status'] = 'True') =>
  aCluster({
    status: {
      conditions: [...(joined === undefined ? [] : [aCondition('Joined', joined)]), aCondition('Healthy', healthy)],
    },
  });

const valuesOf = async (registry: Registry) =>
  (await registry.metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .toSorted();

test('joins and leaves are counted once, and not those of before the hub started', async () => {
  const registry = new Registry();
  const metrics = memberMetrics(registry);
  metrics.looked(member('True'), 1000);
  expect((await valuesOf(registry)).filter((line) => line.includes('result'))).toEqual([]);
  for (const joined of ['False', 'False', 'True', 'True', 'Unknown', 'True'] as const)
    metrics.looked(member(joined), 1000);
  expect((await valuesOf(registry)).filter((line) => line.includes('result'))).toEqual([
    'join_result_counter{result="success"} 2',
    'leave_result_counter{result="success"} 1',
  ]);
});

test('a member has its conditions and its heartbeat, until it is forgotten', async () => {
  const registry = new Registry();
  const metrics = memberMetrics(registry);
  metrics.looked(member(undefined), undefined);
  metrics.looked(member('True', 'Unknown'), 2500);
  expect(await valuesOf(registry)).toEqual([
    'flotilla_member_condition{cluster="east",type="Healthy"} -1',
    'flotilla_member_condition{cluster="east",type="Joined"} 1',
    'flotilla_member_last_heartbeat_timestamp_seconds{cluster="east"} 2.5',
    'join_result_counter{result="success"} 1',
  ]);
  metrics.forget('east');
  expect(await valuesOf(registry)).toEqual(['join_result_counter{result="success"} 1']);
});
