// The overview of a fleet: tables for the order of urgency, and the command against the real API server.
import { describe, expect, test } from 'vitest';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { wallClock } from '../../base/clock.ts';
import { renderOverview } from '../../cli/overview/render-overview.ts';
import { showOverview } from '../../cli/overview/show-overview.ts';
import { printing, serving } from '../../cli/served.testing.ts';
import { whichNamed } from '../../cli/server/which-named.ts';
import { aPlacement, BEFORE, budgetUsed, cluster, failed, NOW, type PlacementParts } from '../placement.testing.ts';
import { aRun, INITIALIZED } from '../staged-run.testing.ts';
import { isQuiet, overviewOf } from './overview.ts';

const aMember = (name: string, joined: string, healthy: string, more: object = {}): MemberCluster => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'MemberCluster',
  metadata: { name, ...more },
  spec: { identity: { kind: 'User', name: 'x' } } as MemberCluster['spec'],
  status: {
    conditions: Object.entries({ Joined: joined, Healthy: healthy }).map(([type, status]) => ({
      type,
      status: status as 'True',
      reason: 'x',
      message: `${type} is ${status}`,
      observedGeneration: 1,
      lastTransitionTime: BEFORE,
    })),
  } as MemberCluster['status'],
});

const placed = (name: string, parts: PlacementParts, namespace?: string) =>
  aPlacement({ ...parts, metadata: { name, generation: 2, ...(namespace === undefined ? {} : { namespace }) } });

const complete: PlacementParts = { clusters: [cluster('eu-1', 'TTTTTT')] };
const failing: PlacementParts = {
  said: 'TF',
  clusters: [cluster('eu-1', 'TTTTTF', { failedPlacements: [failed('no Pod is ready')] }), cluster('us-1', 'TF')],
  holds: [budgetUsed('eu-1', ['us-1'])],
};
const nothing = { members: [], placements: [], runs: [], freezes: [], unread: [], now: NOW };

describe('an overview', () => {
  test('lists placements in trouble first', () => {
    const placements = [
      placed('a', complete),
      placed('b', failing),
      placed('c', { said: 'TU', clusters: [cluster('x', 'TU')] }),
    ];
    const { placements: rows } = overviewOf({ ...nothing, placements });
    expect(rows.map(({ name, state }) => [name, state])).toEqual([
      ['b', 'Failing'],
      ['c', 'Updating'],
      ['a', 'Complete'],
    ]);
    expect(rows[0]).toMatchObject({ revision: '1', done: 0, total: 2, blocked: 1, strategy: 'RollingUpdate' });
    expect(rows[0]?.message).toContain('no Pod is ready');
  });

  test.each([
    { joined: 'True', healthy: 'True', state: 'Ready' },
    { joined: 'True', healthy: 'False', state: 'Unhealthy' },
    { joined: 'True', healthy: 'Unknown', state: 'Unreachable' },
    { joined: 'Unknown', healthy: 'True', state: 'Joining' },
    { joined: 'True', healthy: 'True', more: { deletionTimestamp: BEFORE }, state: 'Leaving' },
  ])('calls a member that is $joined, $healthy: $state', ({ joined, healthy, more, state }) => {
    const { members } = overviewOf({ ...nothing, members: [aMember('m', joined, healthy, more)] });
    expect(members.map((row) => row.state)).toEqual([state]);
  });

  test('lists members in the order in which people count', () => {
    const names = ['member-10', 'member-2', 'member-1'];
    const { members } = overviewOf({ ...nothing, members: names.map((name) => aMember(name, 'True', 'True')) });
    expect(members.map(({ name }) => name)).toEqual(['member-1', 'member-2', 'member-10']);
  });

  test('shows the last run of a placement if it failed, and none that succeeded', () => {
    const over = (says: string) => aRun({ says: `${INITIALIZED} Progressing:False:X ${says}`, stages: [] });
    const states = (run: ReturnType<typeof aRun>) =>
      overviewOf({ ...nothing, runs: [run] }).runs.map(({ state }) => state);
    expect(states(over('Succeeded:False:UpdateRunFailed'))).toEqual(['Failed']);
    expect(states(over('Succeeded:True:UpdateRunSucceeded'))).toEqual([]);
  });

  test('calls a run that a freeze holds Frozen', () => {
    const on = { group: 'flotilla.dev', kind: 'Freeze', name: 'incident' };
    const held = aRun({ says: `${INITIALIZED} Progressing:True:X`, stages: [] });
    const status = { ...held.status, holds: [{ code: 'Frozen', on, facts: { reason: 'x' }, count: 1 }] };
    const runs = [{ ...held, status }] as never;
    expect(overviewOf({ ...nothing, runs }).runs).toMatchObject([{ state: 'Frozen' }]);
  });

  test('is quiet only if all is complete and could be read', () => {
    const quiet = overviewOf({
      ...nothing,
      placements: [placed('a', complete)],
      members: [aMember('m', 'True', 'True')],
    });
    expect(isQuiet(quiet)).toBe(true);
    expect(isQuiet({ ...quiet, unread: ['x'] })).toBe(false);
    expect(isQuiet(overviewOf({ ...nothing, placements: [placed('b', failing)] }))).toBe(false);
  });

  test('names the command that explains the most urgent placement', () => {
    const overview = overviewOf({ ...nothing, placements: [placed('b', failing, 'team')] });
    const text = renderOverview(overview, { now: NOW, wide: false });
    expect(text).toContain('0 members, 0 ready; 1 placement, 0 complete, 1 failing or blocked');
    expect(text).toMatch(/team\/b +Failing +RollingUpdate +1 +0\/2 +1 +5m/);
    expect(text).toContain('Why: flotilla why placement/b -n team');
  });
});

describe('status of the fleet', () => {
  test('reads both scopes, and ends with 2 while something is not complete', async () => {
    const team = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    const { server, write } = await serving([team, placed('web', complete)]);
    const { print, text } = printing();
    const options = { clock: wallClock, signal: new AbortController().signal };
    expect(await showOverview(await server(), options, print)).toBe(0);
    await write(placed('web', failing, 'team'));
    expect(await showOverview(await server(), { ...options, output: 'yaml' }, print)).toBe(2);
    expect(text()).toContain('namespace: team');
    const own = await server();
    await expect(whichNamed(own, 'web')).resolves.toMatchObject({ placement: { name: 'web' } });
    await expect(whichNamed({ ...own, namespace: 'team' }, 'web')).rejects.toThrow(/names 2 objects/);
    await expect(whichNamed(own, 'web', 'team')).resolves.toMatchObject({ placement: { namespace: 'team' } });
    await expect(whichNamed(own, 'wbe')).rejects.toThrow(/known: clusterresourceplacements: web/);
  });
});
