import { describe, expect, test } from 'vitest';
import type { RunPlan } from '../../insight/forecast/run-plan.ts';
import { approveCommand, whichRun } from '../../insight/which-run.ts';
import { renderPlan } from './render-plan.ts';

const view = {
  approve: (stage: string, when: 'before' | 'after') => approveCommand(whichRun('r'), stage, when),
  full: false,
};
const plan: RunPlan = {
  kind: 'ClusterStagedUpdateRun',
  name: 'r',
  placement: 'web',
  revision: '2',
  isNewRevision: true,
  objects: 3,
  end: 'succeeds',
  message: 'all stages are done',
  tookMs: 3_600_999,
  durationMs: 0,
  durationFrom: 'unknown',
  stages: [
    { stage: 'one', clusters: 1, atOnce: 1, waves: 1 },
    { stage: 'two', clusters: 2, atOnce: 2, waves: 1 },
    { stage: '(removal)', clusters: 1, atOnce: 1, waves: 1 },
  ],
  steps: [
    { do: 'wave', number: 1, stage: 'one', removes: false, clusters: ['a'], afterMs: 0 },
    { do: 'gate', type: 'Approval', stage: 'one', when: 'after', request: 'r-after-one', afterMs: 0 },
    { do: 'gate', type: 'TimedWait', stage: 'one', when: 'after', waitTime: '1h', afterMs: 0 },
    { do: 'wave', number: 1, stage: 'two', removes: false, clusters: ['b', 'c'], afterMs: 3_600_999 },
    { do: 'wave', number: 1, stage: '(removal)', removes: true, clusters: ['z'], afterMs: 3_600_999 },
  ],
  clusters: [
    { cluster: 'a', stage: 'one', wave: 1, counts: { added: 3, changed: 0, removed: 0, unchanged: 0 } },
    {
      cluster: 'b',
      stage: 'two',
      wave: 1,
      has: 'web-1-snapshot',
      counts: { added: 0, changed: 1, removed: 0, unchanged: 2 },
    },
    { cluster: 'c', stage: 'two', why: 'up to date', has: 'web-2-snapshot' },
    {
      cluster: 'z',
      stage: '(removal)',
      wave: 1,
      has: 'web-1-snapshot',
      counts: { added: 0, changed: 0, removed: 3, unchanged: 0 },
    },
  ],
  changes: [],
  approvers: ['Group "leads" (role flotilla-cluster-approver), and administrators'],
  notes: ['MemberCluster "c" is unreachable'],
};

describe('a plan', () => {
  test('is a sentence, the stages, the order, and the change on each cluster', () => {
    expect(renderPlan(plan, { ...view, start: 'Start it: kubectl …' })).toBe(
      `
ClusterStagedUpdateRun "r" would bring revision 2 of placement "web" (3 objects) to 3 clusters, and take it from 1 cluster: 2 stages, 3 waves, 1 approval; complete after 1h0m0s
Revision 2 is made when it begins, from what is selected now.

STAGE       CLUSTERS   AT ONCE   WAVES
one         1          1         1
two         2          2         1
(removal)   1          1         1

Order:
  1.   +0s       one, wave 1 of 1: a
  2.   +0s       after one: approval of r-after-one: flotilla approve r --stage one --after
  3.   +0s       after one: 1h after its last cluster
  4.   +1h0m0s   two, wave 1 of 1: b, c
  5.   +1h0m0s   removal: z

CLUSTER   STAGE       WAVE   HAS              ADDED   CHANGED   REMOVED   UNCHANGED
a         one         1      -                3       0         0         0
b         two         1      web-1-snapshot   0       1         0         2
c         two         -      web-2-snapshot   ?       ?         ?         ?           up to date
z         (removal)   1      web-1-snapshot   0       0         3         0

Approvers: Group "leads" (role flotilla-cluster-approver), and administrators

Note:
  - MemberCluster "c" is unreachable

Assumed: a cluster is available at once (no history; give --duration), approvals are given at once, and the fleet does not change. Nothing was written.
Start it: kubectl …`.slice(1),
    );
  });

  test('says how it ends', () => {
    expect(renderPlan({ ...plan, end: 'waits' }, view)).toContain('; it would wait after 1h0m0s');
    expect(renderPlan({ ...plan, end: 'fails' }, view)).toContain('; it would fail after 1h0m0s');
  });

  test('of nothing says so', () => {
    expect(renderPlan({ ...plan, steps: [] }, view)).toContain('nothing to do: every cluster is up to date');
  });

  test('of many waves and many clusters is not endless', () => {
    const clusters = Array.from({ length: 40 }, (_, at) => `c${at}`);
    const steps = clusters.map((cluster, at) => ({
      do: 'wave' as const,
      number: at + 1,
      stage: 'one',
      removes: false,
      clusters: at === 0 ? clusters : [cluster],
      afterMs: 0,
    }));
    const stages = [{ stage: 'one', clusters: 40, atOnce: 1, waves: 40 }];
    expect(renderPlan({ ...plan, steps, stages }, view)).toContain(
      `
  1.   +0s   one, wave 1 of 40: c0, c1, c2, c3, c4, c5, c6, c7 and 32 more
  2.   +0s   one, wave 2 of 40: c1
  3.   +0s   … 37 more waves of one
  4.   +0s   one, wave 40 of 40: c39
`,
    );
  });
});
