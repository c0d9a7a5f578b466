import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import type { HubRun } from '../staged-sources.ts';
import { runMetrics } from './metrics.ts';
import { aRun, NOW } from './run.testing.ts';

const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const said = (type: string, seconds = 0, reason = 'X', message = ''): Condition => ({
  type,
  status: 'True',
  reason,
  message,
  observedGeneration: 1,
  lastTransitionTime: at(seconds),
});
const run = (...conditions: readonly object[]) => aRun({}, { conditions });
const status = (cluster: Condition[], task: Condition[]): StagedUpdateRunStatus => ({
  stagesStatus: [
    {
      stageName: 'x',
      clusters: [{ clusterName: 'a', conditions: cluster }],
      afterStageTaskStatus: [{ type: 'Approval', approvalRequestName: 'r-after-x', conditions: task }],
    },
  ],
});

test('tell how far a run is, how long clusters and people take, and go with the run', async () => {
  const registry = new Registry();
  const metrics = runMetrics(registry);
  const askedAt = () => NOW;
  metrics.looked(run(said('Initialized')), status([], []), askedAt, NOW);
  metrics.looked(
    run(said('Progressing', 0, 'UpdateRunStuck'), said('Initialized')),
    status([said('Started')], []),
    askedAt,
    NOW,
  );
  const done = status([said('Started'), said('Succeeded', 20)], [said('ApprovalRequestApproved', 120)]);
  const failed: HubRun = {
    ...run(said('Succeeded', 0, 'UpdateRunFailed', 'x'), said('Progressing')),
    failureCause: 'User',
  };
  for (let times = 0; times < 3; times++) metrics.looked(failed, done, askedAt, NOW);
  const text = await registry.metrics();
  for (const [reason, failureType] of [
    ['X', 'none'],
    ['UpdateRunStuck', 'internal_error'],
    ['UpdateRunFailed', 'user_error'],
  ]) {
    expect(text).toMatch(
      new RegExp(
        `fleet_workload_update_run_status_last_timestamp_seconds\\{.*reason="${reason}",failureType="${failureType}"\\}`,
      ),
    );
  }
  expect(text).toContain(
    'fleet_workload_update_run_stage_cluster_updating_duration_seconds_sum{namespace="",name="r"} 20',
  );
  expect(text).toContain(
    'fleet_workload_update_run_approval_request_latency_seconds_sum{namespace="",name="r",taskType="afterStage"} 120',
  );
  expect(text).toContain('_duration_seconds_count{namespace="",name="r"} 1');
  metrics.forget({ name: 'r' });
  expect(await registry.metrics()).not.toContain('name="r"');
});

test('what was done before the first look is not counted again', async () => {
  const registry = new Registry();
  const done = status([said('Started'), said('Succeeded', 20)], []);
  runMetrics(registry).looked(run(said('Succeeded')), done, () => NOW, NOW);
  expect(await registry.metrics()).not.toContain('_duration_seconds_count{');
});
