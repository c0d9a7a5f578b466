// A run of any size fits into an object, or is refused with the reason.
import { describe, expect, test } from 'vitest';
import type { StagedUpdateRunStatus } from '../../api/staged-update-run.ts';
import { kubeTime } from '../../base/clock.ts';
import { decide } from './decide.ts';
import { initialise } from './initialise.ts';
import type { Observed } from './observed.ts';
import { APPLY, aBinding, aPolicy, NOW, observe, statusIn } from './run.testing.ts';
import { boundRun, MAX_RUN_BYTES } from './size.ts';

const MAX_OBJECT_BYTES = 1.5 * 1024 * 1024;
const ANNOTATION_BYTES = 256 * 1024;

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const nameOf = (at: number) => `cluster-of-a-large-fleet-${at}`;

/** This many clusters, each with two overrides and a value. */
function over(count: number, more: Partial<Observed> = {}): Observed {
  const names = Array.from({ length: count }, (_, at) => nameOf(at));
  return observe({
    policySnapshots: [aPolicy({ selected: names })],
    bindings: names.map((name) => aBinding(name)),
    member: () => ({ reachable: true, labels: { stage: 'rest' } }),
    ordersOf: (snapshot) => () => ({
      snapshot,
      applyStrategy: APPLY,
      clusterResourceOverrideSnapshots: ['quotas-of-regions-0'],
      resourceOverrideSnapshots: [{ namespace: 'shop', name: 'images-of-regions-12' }],
      overrideValues: { REGION: 'europe-west-1' },
    }),
    ...more,
  });
}

/** The status of the run when all of its clusters are done, with all messages. */
function done(status: StagedUpdateRunStatus, message: string): StagedUpdateRunStatus {
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True' as const,
    reason,
    message,
    observedGeneration: 3,
    lastTransitionTime: kubeTime(NOW),
  });
  const conditions = [condition('Started', 'ClusterUpdatingStarted'), condition('Succeeded', 'ClusterUpdatingSkipped')];
  return {
    ...status,
    stagesStatus: (status.stagesStatus ?? []).map((stage) => ({
      ...stage,
      clusters: stage.clusters.map((cluster) => ({ ...cluster, conditions })),
    })),
  };
}

/** The maximum number of clusters with which a run starts. */
function boundary(more?: Partial<Observed>): number {
  let [fits, tooMany] = [1, 5000];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (initialise(over(middle, more)).state === 'ready') fits = middle;
    else tooMany = middle;
  }
  return fits;
}

describe('a run over a large fleet', () => {
  test('of 2,000 clusters with overrides begins', () => {
    expect(initialise(over(2000)).state).toBe('ready');
  });

  test('at the boundary fits into an object to its end, and one cluster more is refused', () => {
    const count = boundary();
    const begun = initialise(over(count));
    if (begun.state !== 'ready') throw new Error(begun.state);
    const last = done(begun.status, 'the run continues without the cluster: '.padEnd(300, 'x'));
    expect(bytes(last)).toBeGreaterThan(MAX_OBJECT_BYTES);
    const bounded = boundRun(last);
    expect(bytes(bounded)).toBeLessThan(MAX_RUN_BYTES);
    expect(bytes(bounded)).toBeLessThan(MAX_OBJECT_BYTES - ANNOTATION_BYTES);
    const clusters = bounded.stagesStatus?.flatMap((stage) => stage.clusters) ?? [];
    expect(clusters).toHaveLength(count);
    expect(clusters.every(({ conditions, overrideValues }) => conditions?.length === 2 && overrideValues)).toBeTruthy();
    expect(boundRun(bounded)).toEqual(bounded);

    const refused = initialise(over(count + 1));
    expect(refused).toMatchObject({ state: 'wrong', blame: 'user', status: { failureCause: 'User' } });
    expect(refused).toHaveProperty('message', expect.stringContaining(`a run over ${count + 1} clusters`));
    expect(bytes((refused as { status: object }).status)).toBeLessThan(10_000);
  });

  test('may have more clusters without overrides', () => {
    const plain: Partial<Observed> = { ordersOf: (snapshot) => () => ({ snapshot, applyStrategy: APPLY }) };
    expect(boundary(plain)).toBeGreaterThan(boundary() + 300);
  });

  test('that is refused has a condition that says what to do', () => {
    const status = statusIn(decide(over(5000)));
    expect(status?.conditions).toMatchObject([
      {
        type: 'Initialized',
        status: 'False',
        reason: 'UpdateRunInitializedFailed',
        message: expect.stringMatching(/at most \d+ fit: select fewer clusters in the placement/),
      },
    ]);
  });
});

describe('the messages of clusters', () => {
  test('are kept in a small run', () => {
    const small = initialise(over(500));
    const status = done((small as { status: StagedUpdateRunStatus }).status, 'm');
    expect(boundRun(status)).toBe(status);
  });

  test('are dropped in a large one, but for those of clusters that failed', () => {
    const large = initialise(over(2000)) as { status: StagedUpdateRunStatus };
    const status = done(large.status, 'm');
    const [stage] = status.stagesStatus?.slice(-1) ?? [];
    const [first] = stage?.clusters ?? [];
    const failed = { ...first?.conditions?.[1], status: 'False', message: 'why' };
    const bounded = boundRun({
      ...status,
      stagesStatus: [{ ...stage, clusters: [{ ...first, conditions: [failed] }, ...(stage?.clusters.slice(1) ?? [])] }],
    } as StagedUpdateRunStatus);
    const messages = bounded.stagesStatus?.[0]?.clusters.map(({ conditions }) =>
      conditions?.map(({ message }) => message),
    );
    expect(messages?.slice(0, 2)).toEqual([['why'], ['', '']]);
  });
});
