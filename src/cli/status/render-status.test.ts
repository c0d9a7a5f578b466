import { describe, expect, test } from 'vitest';
import { aPlacement, budgetUsed, cluster, failed, NOW } from '../../insight/placement.testing.ts';
import { differingNote, progressOf } from '../../insight/progress/placement-progress.ts';
import { terminalOn } from '../terminal/terminal.ts';
import { renderChanges, renderStatus } from './render-status.ts';

const view = { now: NOW, more: 'flotilla why placement/web' };
const bad = cluster('eu-1', 'TTTTTF', { failedPlacements: [failed('no Pod is ready')] });
const midway = progressOf(
  aPlacement({
    said: 'TF',
    clusters: [bad, cluster('eu-2', 'TTTTTT'), cluster('us-1', 'TF')],
    holds: [budgetUsed('eu-1', ['us-1'])],
  }),
  new Map([['us-1', '0']]),
);
const complete = progressOf(aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')] }));

describe('a status', () => {
  test('is a headline, a bar where there is a terminal, and a line per cluster', () => {
    expect(renderStatus(midway, { ...view, waiting: 'MemberCluster "eu-1" blocks the rollout', bar: 10 })).toBe(
      `
ClusterResourcePlacement "web", revision 1: available on 1 of 3 clusters, 1 still has an earlier revision
[###-------] 33%
Waits: MemberCluster "eu-1" blocks the rollout

CLUSTER   STAGE          REVISION   FOR   MESSAGE
eu-1      NotAvailable   1          5m    Deployment "shop/web": no Pod is ready
eu-2      Available      1          5m
us-1      Waiting        0          5m    waiting for MemberCluster "eu-1" (BudgetUsed)

Why: flotilla why placement/web`.slice(1),
    );
  });

  test('on a narrow terminal wraps what it waits for instead of cutting the cause off', () => {
    const waiting =
      'MemberCluster "eu-1" blocks the rollout (failed: no Pod is ready): 2 clusters are available, at least 2 are required';
    const lines = renderStatus(midway, { ...view, waiting, columns: 60 }).split('\n');
    expect(lines.slice(0, 5)).toEqual([
      'ClusterResourcePlacement "web", revision 1: available on 1',
      '  of 3 clusters, 1 still has an earlier revision',
      'Waits: MemberCluster "eu-1" blocks the rollout (failed: no',
      '  Pod is ready): 2 clusters are available, at least 2 are',
      '  required',
    ]);
  });

  test('on a low terminal makes room for what was wrapped', () => {
    const waiting = Array.from({ length: 40 }, () => 'word').join(' ');
    const many = Array.from({ length: 30 }, (_, at) => cluster(`c${at}`, 'TF'));
    const progress = progressOf(aPlacement({ said: 'TF', clusters: many }));
    const rows = (columns: number) =>
      renderStatus(progress, { ...view, waiting, columns, rows: 20 }).split('\n').length;
    expect(rows(40)).toBeLessThanOrEqual(20);
    expect(rows(200)).toBeLessThanOrEqual(20);
    expect(rows(200)).toBeGreaterThan(15);
  });

  test('says how many objects differ, and what shows the fields', () => {
    const said = 'Scheduled:T RolloutStarted:T Overridden:T WorkSynchronized:T DiffReported:T';
    const differing = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ version: 'v1', kind: 'ConfigMap', name: `c${at}` })) as never;
    const progress = progressOf(
      aPlacement({
        said,
        spec: { strategy: { applyStrategy: { type: 'ReportDiff' } } as never },
        clusters: [
          cluster('eu-1', said, { diffedPlacements: differing(2) }),
          cluster('eu-2', said, { driftedPlacements: differing(1) }),
          cluster('us-1', said),
        ],
      }),
    );
    expect(differingNote(progress)).toBe('3 objects differ from the hub on 2 clusters');
    expect(renderStatus(progress, { ...view, diff: 'flotilla diff placement/web' })).toBe(
      `
ClusterResourcePlacement "web", revision 1: compared on 3 of 3 clusters, complete

CLUSTER   STAGE      FOR   MESSAGE
eu-1      Compared   5m    2 objects differ from the hub
eu-2      Compared   5m    1 object differs from the hub
us-1      Compared   5m

Differences: flotilla diff placement/web`.slice(1),
    );
    const cut = progressOf(aPlacement({ clusters: [cluster('eu-1', said, { diffedPlacements: differing(100) })] }));
    expect(differingNote(cut)).toBe('at least 100 objects differ from the hub on cluster "eu-1"');
  });

  test('that is complete says no more than that', () => {
    expect(renderStatus(complete, view)).toBe(
      `
ClusterResourcePlacement "web", revision 1: available on 1 of 1 cluster, complete

CLUSTER   STAGE       FOR   MESSAGE
eu-1      Available   5m`.slice(1),
    );
  });

  test('of what selects nothing says that first, and not that all is well', () => {
    const note = 'selector v1 Namespace "shoop" matches nothing';
    const progress = progressOf(aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], isEmpty: true, note }));
    expect(renderStatus(progress, view)).toBe(
      `
ClusterResourcePlacement "web", revision 1: selects nothing: selector v1 Namespace "shoop" matches nothing

CLUSTER   STAGE       FOR   MESSAGE
eu-1      Available   5m

Why: flotilla why placement/web`.slice(1),
    );
  });

  test('says who still has an earlier revision, for that is no outage', () => {
    const parts = { said: 'TF', clusters: [bad, cluster('eu-2', 'TF'), cluster('us-1', 'TF')] };
    const say = (carried: readonly [string, string][]) =>
      renderStatus(progressOf(aPlacement(parts), new Map(carried)), view);
    const two = say([
      ['eu-2', '0'],
      ['us-1', '0'],
    ]);
    expect(two).toMatch(/: available on 0 of 3 clusters, 2 still have an earlier revision\n/);
    expect(two).toMatch(/\neu-1 +NotAvailable +1 .*\neu-2 +Waiting +0 /);
    const nobody = aPlacement({ said: 'TF', clusters: [cluster('eu-1', 'TF'), cluster('eu-2', 'TF')] });
    const all = new Map([
      ['eu-1', '0'],
      ['eu-2', '0'],
    ]);
    expect(renderStatus(progressOf(nobody, all), view)).toMatch(/\neu-1 +Waiting +0 .*\neu-2 +Waiting +0 /);
    expect(say([['eu-2', '0']])).toMatch(/: available on 0 of 3 clusters, 1 still has an earlier revision\n/);
    expect(say([])).toMatch(/: available on 0 of 3 clusters\n/);
    expect(say([])).toMatch(/\neu-2 +Waiting +- /);
  });

  test('says what was not sent, complete or not', () => {
    const note = 'selector v1 Namespace "shop" matches nothing';
    const progress = progressOf(aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], note }));
    expect(renderStatus(progress, view)).toContain('complete\nNote: selector v1 Namespace "shop" matches nothing\n');
  });

  test('tells of clusters that are no longer picked and still have something', () => {
    const holds = [
      budgetUsed('eu-1', ['us-1']),
      {
        ...budgetUsed('us-2', ['us-2']),
        code: 'RemovalPending',
        on: { kind: 'ClusterResourceBinding', name: 'web-us-2' },
      },
    ];
    const progress = progressOf(aPlacement({ clusters: [cluster('eu-1', 'TTTTTF')], said: 'TTTTTF', holds }));
    expect(progress).toMatchObject({ total: 1, done: 0 });
    expect(renderStatus(progress, view).split('\n').slice(3, 7)).toEqual([
      expect.stringMatching(/^CLUSTER +STAGE +FOR +MESSAGE$/),
      expect.stringMatching(/^eu-1 +NotAvailable /),
      expect.stringMatching(
        /^us-1 +Leaving +- +no longer picked; keeps its objects: waiting for MemberCluster "eu-1" \(BudgetUsed\)$/,
      ),
      expect.stringMatching(/^us-2 +Leaving +- +no longer picked; its objects are being removed$/),
    ]);
  });

  test('does not speak of revisions because a place is empty', () => {
    const clusters = [cluster('eu-1', 'TTTTTT'), { conditions: cluster('', 'F').conditions ?? [] }];
    expect(renderStatus(progressOf(aPlacement({ said: 'F', clusters })), view)).not.toContain('REVISION');
  });

  test.each([
    {
      it: 'nobody has looked at',
      parts: { said: '' },
      says: 'ClusterResourcePlacement "web", revision 1: no cluster is picked\nThe hub has not processed it yet.',
    },
    {
      it: 'of an older generation',
      parts: { metadata: { name: 'web', generation: 3 } },
      says: 'Generation 3 has not been processed yet; showing generation 2.',
    },
    {
      it: 'of a deletion',
      parts: { metadata: { name: 'web', deletionTimestamp: 'x' } },
      says: '\nIt is being deleted.',
    },
    {
      it: 'without holds',
      parts: { said: 'TF' },
      says: '\nRolloutStarted is False (NotFine): RolloutStarted is not reached',
    },
    {
      it: 'whose spec cannot work',
      parts: { said: 'U', holds: [{ code: 'SpecInvalid' }] },
      says: 'revision 1: blocked; no cluster changes\n',
    },
    {
      it: 'of something that is too large',
      parts: { said: 'U', clusters: [cluster('eu-1', 'TTTTTT')], holds: [{ code: 'SnapshotTooLarge' }] },
      says: 'revision 1: available on 1 of 1 cluster\nScheduled is Unknown',
    },
    {
      it: 'of nobody that fits',
      parts: { said: 'T' },
      says: 'no cluster is picked\n\nWhy: flotilla why placement/web',
    },
    {
      it: 'in a namespace',
      parts: { metadata: { name: 'web', namespace: 'team' } },
      says: 'ResourcePlacement "team/web", ',
    },
    {
      it: 'with clusters at different revisions',
      parts: { clusters: [cluster('a', 'TTTTTT'), cluster('b', 'TTTTTT', { observedResourceIndex: '0' })] },
      says: 'CLUSTER   STAGE       REVISION   FOR   MESSAGE\na         Available   1          5m\nb         Available   0',
    },
  ])('$it says so', ({ parts, says }) => {
    expect(renderStatus(progressOf(aPlacement(parts)), view)).toContain(says);
  });

  test('with more clusters than fit shows those that are not done', () => {
    const many = Array.from({ length: 30 }, (_, at) => cluster(`c${at}`, at === 29 ? 'TF' : 'TTTTTT'));
    const text = renderStatus(progressOf(aPlacement({ said: 'TF', clusters: many })), { ...view, rows: 9 });
    expect(
      text
        .split('\n')
        .filter((line) => /^c\d/.test(line))
        .map((line) => line.split(' ')[0]),
    ).toEqual(['c29', 'c0', 'c1']);
    expect(text).toContain('… and 27 more clusters');
  });

  test('keeps what others wrote from writing on the terminal', () => {
    const evil = cluster('eu-1', 'TTTTTF', { failedPlacements: [failed('a\u001b[2Jb\nc\u202ed\u009be')] });
    const text = renderStatus(progressOf(aPlacement({ said: 'TTTTTF', clusters: [evil] })), view);
    expect(text).toContain('a [2Jb c d e');
    for (const character of '\u001b\u009b\u202e') expect(text).not.toContain(character);
  });
});

describe('what changed', () => {
  test('is told line by line, and nothing twice', () => {
    expect(renderChanges(undefined, midway, { ...view, waiting: 'for eu-1' })).toEqual([
      'eu-1: NotAvailable (Deployment "shop/web": no Pod is ready)',
      'eu-2: Available',
      'us-1: Waiting (waiting for MemberCluster "eu-1" (BudgetUsed))',
      'ClusterResourcePlacement "web", revision 1: available on 1 of 3 clusters, 1 still has an earlier revision',
      'Waits: for eu-1',
    ]);
    expect(renderChanges(midway, midway, view)).toEqual([]);
    expect(renderChanges(midway, complete, view)).toEqual([
      'eu-1: NotAvailable -> Available',
      'eu-2: no longer picked',
      'us-1: no longer picked',
      'ClusterResourcePlacement "web", revision 1: available on 1 of 1 cluster, complete',
    ]);
  });

  test('are also those of clusters that are no longer picked', () => {
    const keeps = progressOf(
      aPlacement({ clusters: [cluster('eu-1', 'TTTTTT')], holds: [budgetUsed('eu-1', ['eu-2', 'us-1'])] }),
    );
    const why = '(no longer picked; keeps its objects: waiting for MemberCluster "eu-1" (BudgetUsed))';
    const lines = renderChanges(midway, keeps, view).slice(0, 3);
    expect(lines).toEqual([
      'eu-1: NotAvailable -> Available',
      `eu-2: Available -> Leaving ${why}`,
      `us-1: Waiting -> Leaving ${why}`,
    ]);
    expect(renderChanges(undefined, keeps, view)).toContain(`us-1: Leaving ${why}`);
    expect(renderChanges(keeps, complete, view).slice(0, 2)).toEqual([
      'eu-2: Leaving -> gone',
      'us-1: Leaving -> gone',
    ]);
    const oneOfMany = [budgetUsed('eu-1', ['eu-2'], 21)];
    for (const [it, parts] of Object.entries({
      'a hold does not name them all': { clusters: [cluster('eu-1', 'TTTTTT')], holds: oneOfMany },
      'it is not scheduled': { said: 'U', clusters: [] },
    })) {
      const lines = renderChanges(keeps, progressOf(aPlacement(parts)), view);
      expect(
        lines.filter((line) => /gone|no longer picked$/.test(line)),
        it,
      ).toEqual([]);
    }
  });
});

describe('a terminal', () => {
  test('is drawn on in place, with lines that do not wrap', () => {
    const written: string[] = [];
    const stream = { isTTY: true, columns: 6, rows: 10, write: (text: string) => written.push(text) > 0 };
    const terminal = terminalOn(stream as never);
    terminal?.draw('abcdefgh\nx');
    terminal?.draw('y');
    expect(written).toEqual(['abcd…\nx\n', '\u001b[2A\r\u001b[Jy\n']);
    expect(terminalOn({ ...stream, isTTY: false } as never)).toBeUndefined();
  });
});
