// `flotilla status` against the real API server over https; the test acts as the hub.
import { describe, expect, test } from 'vitest';
import { testClock } from '../../../test/cluster.ts';
import type { KubeObject } from '../../api/object.ts';
import { placement as placements } from '../../api/placement.ts';
import type { Request } from '../../api/transport.ts';
import { wallClock } from '../../base/clock.ts';
import { contentOf } from '../../hub/revisions/content.ts';
import {
  aBinding,
  aPlacement,
  budgetUsed,
  cluster,
  failed,
  NOW,
  type PlacementParts,
} from '../../insight/placement.testing.ts';
import { aRun, aSnapshot, aStage, INITIALIZED } from '../../insight/staged-run.testing.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { overheard, printing, serving as serveObjects } from '../served.testing.ts';
import type { ShowOptions } from '../terminal/showing.ts';
import { status } from './status.ts';

async function serving(parts: PlacementParts, besides: readonly KubeObject[] = []) {
  const { subject, write, server } = await serveObjects([aPlacement(parts), ...besides]);
  const { print, ...printed } = printing();
  const stop = new AbortController();
  const asked: Request[] = [];
  const own = overheard(await server(), (request) => asked.push(request));
  return {
    ...printed,
    asked,
    subject,
    stop,
    become: (next: PlacementParts) => write(aPlacement(next)),
    remove: () => subject.cluster.call({ verb: 'delete', at: { resource: placements.cluster, name: 'web' } }),
    show: (options: Partial<ShowOptions> = {}) =>
      status(own, whichPlacement('placement/web'), { clock: wallClock, signal: stop.signal, ...options }, print),
  };
}

const broken = cluster('eu-1', 'TTTTTF', { failedPlacements: [failed('no Pod is ready')] });
const midway: PlacementParts = {
  said: 'TF',
  clusters: [broken, cluster('us-1', 'TF')],
  holds: [budgetUsed('eu-1', ['us-1'])],
};
const done: PlacementParts = { clusters: [cluster('eu-1', 'TTTTTT'), cluster('us-1', 'TTTTTT')] };

describe('status', () => {
  test.each([
    { it: 'complete', parts: done, code: 0, says: 'available on 2 of 2 clusters, complete' },
    {
      it: 'not complete',
      parts: midway,
      code: 2,
      says: 'available on 0 of 2 clusters\nBlocked: MemberCluster "eu-1" blocks',
    },
  ])('of what is $it ends with $code', async ({ parts, code, says }) => {
    const { show, out } = await serving(parts);
    expect(await show()).toBe(code);
    expect(out.join('\n')).toContain(says);
  });

  describe('of a placement that runs move', () => {
    const external = { strategy: { type: 'External' } } as NonNullable<PlacementParts['spec']>;
    const at = (name: string, index: string) => cluster(name, 'TTTTTT', { observedResourceIndex: index });
    const waits = aRun({
      says: `${INITIALIZED} Progressing:False:UpdateRunWaiting`,
      message: 'stage "one" waits',
      stages: [aStage('one', 'Progressing:False:StageUpdatingWaiting', [])],
    });
    const over = (says: string) => aRun({ says: `${INITIALIZED} Progressing:False:X ${says}`, stages: [] });

    test.each([
      {
        it: 'in the middle of one',
        run: waits,
        said: 'TU',
        on: ['1', '0'],
        says: 'revision 1: available on 1 of 2 clusters, 1 still has another revision\nWaits: ClusterStagedUpdateRun "r"',
      },
      {
        it: 'before one has reached any cluster',
        run: waits,
        said: 'TTTTTT',
        on: ['0', '0'],
        says: 'revision 1: available on 0 of 2 clusters, 2 still have another revision\nWaits: ClusterStagedUpdateRun "r"',
      },
      {
        it: 'after one that failed',
        run: over('Succeeded:False:UpdateRunFailed'),
        said: 'TU',
        index: '',
        on: ['1', '0'],
        says: 'revision 1: available on 1 of 2 clusters, 1 still has another revision',
      },
      {
        it: 'after one that was stopped half-way',
        run: aRun({ says: `${INITIALIZED} Progressing:False:UpdateRunStopped`, state: 'Stop', stages: [] }),
        said: 'TU',
        index: '',
        on: ['1', '0'],
        says: 'revision 1: available on 1 of 2 clusters, 1 still has another revision',
      },
      {
        it: 'after one that was stopped, where another has gone back since',
        run: aRun({ says: `${INITIALIZED} Progressing:False:UpdateRunStopped`, state: 'Stop', stages: [] }),
        said: 'TTTTTT',
        on: ['0', '0'],
        code: 0,
        says: 'available on 2 of 2 clusters, complete',
      },
      {
        it: 'with one that is only prepared',
        run: aRun({ says: INITIALIZED, state: 'Initialize', stages: [] }),
        said: 'TTTTTT',
        on: ['0', '0'],
        code: 0,
        says: 'available on 2 of 2 clusters, complete',
      },
    ])('counts clusters on the revision of the run: $it', async ({ run, said, on, says, code = 2, index = '1' }) => {
      const clusters = on.map((each, number) => at(`c${number}`, each));
      const placement = aPlacement({ said, spec: external, clusters });
      const { server } = await serveObjects([
        { ...placement, status: { ...placement.status, observedResourceIndex: index } },
        run,
      ]);
      const { print, out, told } = printing();
      const stop = new AbortController();
      const options = { clock: wallClock, signal: stop.signal };
      expect(await status(await server(), whichPlacement('placement/web'), options, print)).toBe(code);
      expect(out.join('\n')).toContain(says);
      if (code === 0) return;
      // A watch does not report completion before it has received the runs.
      const begun = told();
      const watching = status(await server(), whichPlacement('placement/web'), { ...options, watch: true }, print);
      await begun;
      stop.abort();
      expect(await watching).toBe(130);
    });

    test('names clusters that keep what they have until a run removes them', async () => {
      const left = aBinding('c9', 'TTTTT');
      const { show, out } = await serving({ said: 'TTTTTT', spec: external, clusters: [at('c1', '1')] }, [
        { ...left, spec: { ...left.spec, state: 'Unscheduled' } } as KubeObject,
      ]);
      await show();
      expect(out.join('\n')).toMatch(/c9 +Leaving .*no longer picked; keeps its objects until a run removes them/);
    });

    test('names them in the order in which people count, also for programs', async () => {
      const left = ['c10', 'c9', 'c2'].map((name) => aBinding(name, 'TTTTT'));
      const { show, out } = await serving(
        { said: 'TTTTTT', spec: external, clusters: [at('c1', '1')] },
        left.map((each) => ({ ...each, spec: { ...each.spec, state: 'Unscheduled' } }) as KubeObject),
      );
      await show({ output: 'json' });
      const { leaving } = JSON.parse(out.join('\n')) as { leaving: { cluster: string }[] };
      expect(leaving.map(({ cluster }) => cluster)).toEqual(['c2', 'c9', 'c10']);
    });

    test.each([
      {
        it: 'by a change of what is selected',
        snapshots: [aSnapshot(1)],
        says: 'Note: the hub is ahead of all clusters: the selected objects have changed since revision 1; create a run to roll it out',
      },
      {
        it: 'by a revision that no cluster has',
        snapshots: [aSnapshot(1, [], false), aSnapshot(2)],
        isSelected: true,
        says: 'Note: the hub is ahead of all clusters: the newest revision is 2, and they have 1; create a run to roll it out',
      },
      { it: 'not at all', snapshots: [aSnapshot(1)], isSelected: true, says: undefined },
    ])('says that the hub is ahead of all clusters: $it', async ({ snapshots, isSelected, says }) => {
      // Nothing is selected, so this is the hash of an empty revision.
      const { hash } = contentOf([], { tracksJobs: false });
      const objects = snapshots.map((each) => ({
        ...each,
        metadata: {
          ...each.metadata,
          annotations: {
            ...each.metadata.annotations,
            ...(isSelected ? { 'kubernetes-fleet.io/resource-hash': hash } : {}),
          },
        },
      }));
      const { show, out } = await serving({ spec: external, clusters: [at('c1', '1')] }, objects);
      expect(await show()).toBe(0);
      if (says === undefined) expect(out.join('\n')).not.toContain('ahead');
      else expect(out.join('\n')).toContain(says);
    });
  });

  test('for programs has the same facts', async () => {
    const { show, out } = await serving(midway);
    expect(await show({ output: 'json' })).toBe(2);
    expect(JSON.parse(out.join('\n'))).toMatchObject({
      kind: 'ClusterResourcePlacement',
      name: 'web',
      revision: '1',
      isComplete: false,
      done: 0,
      total: 2,
      clusters: [
        { cluster: 'eu-1', stage: 'NotAvailable', since: '2026-01-01T11:55:00Z' },
        { cluster: 'us-1', stage: 'Waiting' },
      ],
      holds: [{ code: 'BudgetUsed', sentence: expect.stringContaining('blocks the rollout') }],
    });
  });

  test('for programs has the condition that is not True, also where nothing holds', async () => {
    const { show, out } = await serving({ said: 'F', clusters: [cluster('eu-1', 'TTTTTT')] });
    expect(await show({ output: 'json' })).toBe(2);
    expect(JSON.parse(out.join('\n'))).toMatchObject({
      holds: [],
      open: {
        step: 'Scheduled',
        status: 'False',
        reason: 'NotFine',
        message: 'Scheduled is not reached',
        since: '2026-01-01T11:55:00Z',
      },
    });
  });

  test('tells which revision each cluster has, and asks for that once in a rollout', async () => {
    const bindings = [aBinding('eu-1', 'TTTTF'), aBinding('us-1', 'F', { index: 0 })];
    const { show, out, asked, become, told } = await serving(midway, bindings);
    const begun = told();
    const watching = show({ watch: true, output: 'json' });
    await begun;
    await become({ ...midway, clusters: [cluster('eu-1', 'TTTTT'), cluster('us-1', 'TF')] });
    await become(done);
    await watching;
    const revisions = (line: string) =>
      (JSON.parse(line) as { clusters: { revision: string }[] }).clusters.map(({ revision }) => revision);
    expect(revisions(out[0] ?? '')).toEqual(['1', '0']);
    expect(revisions(out.at(-1) ?? '')).toEqual(['1', '1']);
    expect(asked.filter(({ at }) => at.resource.kind === 'ClusterResourceBinding')).toHaveLength(1);
  });

  test('of what is complete asks for nothing else', async () => {
    const { show, asked } = await serving(done);
    expect(await show()).toBe(0);
    expect(asked.map(({ verb, at }) => `${verb} ${at.resource.kind}`)).toEqual(['get ClusterResourcePlacement']);
  });

  test('watched tells every change in plain lines, until it is complete', async () => {
    const { show, out, become, told } = await serving(midway);
    const begun = told();
    const watching = show({ watch: true });
    await begun;
    out.length = 0;
    await become(done);
    expect(await watching).toBe(0);
    expect(out).toEqual([
      'eu-1: NotAvailable -> Available',
      'us-1: Waiting -> Available',
      'ClusterResourcePlacement "web", revision 1: available on 2 of 2 clusters, complete',
    ]);
  });

  test('watched for programs is one object per line', async () => {
    const { show, out, become, told } = await serving(midway);
    const begun = told();
    const watching = show({ watch: true, output: 'json' });
    await begun;
    await become(done);
    expect(await watching).toBe(0);
    expect(out.map((line) => (JSON.parse(line) as { done: number }).done)).toEqual([0, 2]);
  });

  test('watched on a terminal is drawn again', async () => {
    const { show, out, become } = await serving(midway);
    const pictures: string[] = [];
    let drawn = () => {};
    const first = new Promise<void>((resolve) => {
      drawn = resolve;
    });
    const draw = (text: string) => {
      pictures.push(text);
      drawn();
    };
    const terminal = { columns: 100, rows: 24, draw };
    const watching = show({ watch: true, terminal });
    await first;
    await become(done);
    expect(await watching).toBe(0);
    expect(out).toEqual([]);
    expect(pictures.map((text) => text.split('\n')[1])).toEqual([`[${'-'.repeat(40)}] 0%`, `[${'#'.repeat(40)}] 100%`]);
  });

  test('watched on a terminal counts on while nothing happens', async () => {
    const clock = testClock(NOW);
    const { show, become } = await serving(midway);
    const pictures: string[] = [];
    let drawn = () => {};
    const first = new Promise<void>((resolve) => {
      drawn = resolve;
    });
    const draw = (text: string) => {
      pictures.push(text);
      drawn();
    };
    const terminal = { columns: 100, rows: 24, draw };
    const watching = show({ watch: true, terminal, clock });
    await first;
    for (let seconds = 0; seconds < 3; seconds++) clock.advance(1000);
    await become(done);
    expect(await watching).toBe(0);
    const count = pictures.length;
    clock.advance(5000);
    expect(pictures).toHaveLength(count);
    expect(pictures.slice(0, 4).map((text) => /NotAvailable.* (5m\d*s?) /.exec(text)?.[1])).toEqual([
      '5m',
      '5m1s',
      '5m2s',
      '5m3s',
    ]);
  });

  test('watched for too long says how far it came', async () => {
    const clock = testClock();
    const { show, errors, told } = await serving(midway);
    const begun = told();
    const watching = show({ watch: true, timeoutMs: 90_000, clock });
    await begun;
    clock.advance(90_000);
    expect(await watching).toBe(2);
    expect(errors).toEqual([
      'not complete after 1m30s: ClusterResourcePlacement "web", revision 1: available on 0 of 2 clusters',
    ]);
  });

  test('watched is stopped by Ctrl-C without a word', async () => {
    const { show, errors, stop, told } = await serving(midway);
    const begun = told();
    const watching = show({ watch: true });
    await begun;
    stop.abort();
    expect(await watching).toBe(130);
    expect(errors).toEqual([]);
  });

  test('watched ends when the placement is deleted', async () => {
    const { show, remove, told } = await serving(midway);
    const begun = told();
    const watching = show({ watch: true });
    await begun;
    await Promise.all([expect(watching).rejects.toThrow('ClusterResourcePlacement "web" was deleted'), remove()]);
  });
});
