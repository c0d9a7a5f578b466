// `flotilla status` against the real API server over https; the test plays the hub.
import { describe, expect, test } from 'vitest';
import { testClock } from '../../test/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { placement as placements } from '../api/placement.ts';
import type { Request } from '../api/transport.ts';
import { wallClock } from '../base/clock.ts';
import { aBinding, aPlacement, budgetUsed, cluster, failed, NOW, type PlacementParts } from './placement.testing.ts';
import { overheard, printing, serving as serveObjects } from './served.testing.ts';
import type { ShowOptions } from './showing.ts';
import { status } from './status.ts';
import { whichPlacement } from './which-placement.ts';

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
      says: 'available on 0 of 2 clusters\nWaits: MemberCluster "eu-1" uses',
    },
  ])('of what is $it ends with $code', async ({ parts, code, says }) => {
    const { show, out } = await serving(parts);
    expect(await show()).toBe(code);
    expect(out.join('\n')).toContain(says);
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
      holds: [{ code: 'BudgetUsed', sentence: expect.stringContaining('uses the budget up') }],
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
