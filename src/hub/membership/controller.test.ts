import { describe, expect, test } from 'vitest';
import type { Projected, Source, View } from '../../runtime/controller.ts';
import { internalMemberClusters, memberClusters } from '../sources.ts';
import { membership } from './controller.ts';
import { aCluster, anAgent, anInternal, leavingSince, NOW } from './member.testing.ts';

const seeing = (items: ReadonlyMap<unknown, Projected>, now: number): View => ({
  now,
  get: <T extends Projected>(source: Source<T>) => items.get(source) as T | undefined,
  all: () => [],
  by: () => [],
  getFull: () => undefined,
  listOnDemand: () => undefined,
  listError: () => undefined,
});

describe('membership sees', () => {
  const internal = anInternal({ status: { agentStatus: [anAgent('True')] } });
  const there = new Map<unknown, Projected>([
    [memberClusters, aCluster()],
    [internalMemberClusters, internal],
  ]);

  test('since when a heartbeat has been there, by its own clock', () => {
    const { observe } = membership();
    const memory = { beat: undefined };
    expect(observe(seeing(there, NOW), 'east', memory)).toMatchObject({ beatSeenAt: NOW });
    expect(observe(seeing(there, NOW + 5000), 'east', memory)).toMatchObject({ beatSeenAt: NOW });
  });

  test('what the server has, where its own view is older than what was told already', () => {
    const told = aCluster({
      status: { agentStatus: [{ ...anAgent('True'), lastReceivedHeartbeat: '2099-01-01T00:00:00Z' }] },
    });
    const behind = new Map<unknown, Projected>([...there, [memberClusters, told]]);
    const { observe } = membership();
    const memory = { beat: undefined };
    const asking = (isRefreshed: boolean): View => ({ ...seeing(behind, NOW), isRefreshed: () => isRefreshed });
    const part = { namespace: 'fleet-member-east', name: 'east' };
    expect(observe(asking(false), 'east', memory)).toEqual({
      need: [],
      ask: [{ source: internalMemberClusters, part }],
    });
    expect(observe(asking(true), 'east', memory)).toMatchObject({ internal });
  });

  test.each([
    { it: 'waits for identities that cannot be listed now', reason: 'TooManyRequests', isWaiting: true },
    { it: 'does not wait for identities that it may not list', reason: 'Forbidden', isWaiting: false },
  ])('of a member that has left: $it', ({ reason, isWaiting }) => {
    const leaving = new Map<unknown, Projected>([[memberClusters, aCluster(leavingSince(1000))]]);
    const listError = () => ({ reason, message: 'no' });
    const found = membership().observe({ ...seeing(leaving, NOW), getFull: () => null, listError }, 'east', {
      beat: undefined,
    });
    expect(found !== undefined && 'watch' in found).toBe(isWaiting);
  });

  test('nothing of a member that does not exist', () => {
    expect(membership().observe(seeing(new Map(), NOW), 'east', { beat: undefined })).toBeUndefined();
  });

  test('what happens in the place of each member, and nowhere else', () => {
    const { watches } = membership();
    const view = seeing(there, NOW);
    const keysOf = (plural: string, metadata: object) =>
      watches.find(({ source }) => source.resource.plural === plural)?.toKeys({ metadata }, view);
    expect(keysOf('memberclusters', { name: 'east' })).toEqual(['east']);
    expect(keysOf('namespaces', { name: 'fleet-member-east' })).toEqual(['east']);
    expect(keysOf('namespaces', { name: 'shop' })).toEqual([]);
    for (const plural of ['roles', 'rolebindings', 'internalmemberclusters']) {
      expect(keysOf(plural, { name: 'x', namespace: 'fleet-member-east' }), plural).toEqual(['east']);
      expect(keysOf(plural, { name: 'x', namespace: 'shop' }), plural).toEqual([]);
    }
    expect(keysOf('works', { name: 'x', namespace: 'fleet-member-east' })).toEqual([]);
  });
});
