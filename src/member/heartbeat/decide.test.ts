import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../api/conditions.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { MemberStatus } from '../../api/member-status.ts';
import { applyMergePatch } from '../../apiserver/patch/merge-patch.ts';
import { kubeTime } from '../../base/clock.ts';
import type { Json } from '../../base/json.ts';
import type { Action, Decision } from '../../runtime/controller.ts';
import { hubSources } from '../sources.ts';
import { decide, type Observed } from './decide.ts';
import type { Beat, Health } from './pulse.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const STAMP = kubeTime(NOW);
const sources = hubSources('east');
const beatAt = (at: number, health: Health = { ok: true }): Beat => ({ at, stamp: kubeTime(at), health });

const anInternal = (
  more: { state?: 'Join' | 'Leave'; generation?: number; status?: MemberStatus } = {},
): InternalMemberCluster => ({
  apiVersion: 'cluster.kubernetes-fleet.io/v1beta1',
  kind: 'InternalMemberCluster',
  metadata: {
    name: 'east',
    namespace: 'fleet-member-east',
    uid: 'u',
    resourceVersion: '1',
    generation: more.generation ?? 1,
  },
  spec: { state: more.state ?? 'Join', heartbeatPeriodSeconds: 60 },
  ...(more.status === undefined ? {} : { status: more.status }),
});

const aWork = (name: string, finalizers = ['kubernetes-fleet.io/work-cleanup']) => ({
  metadata: { name, namespace: 'fleet-member-east', uid: name, resourceVersion: '1', finalizers },
});

const observed = (more: Partial<Observed> = {}): Observed => ({
  internal: anInternal(),
  works: [],
  beat: beatAt(NOW),
  facts: { nodes: [], pods: [], namespaces: [] },
  now: NOW,
  sources,
  ...more,
});

const words = ({ steps }: Decision) =>
  steps
    .flat()
    .map((action) =>
      action.do === 'event'
        ? `${action.type} ${action.reason}`
        : action.do === 'patch'
          ? `patch ${action.of.resource.kind} ${action.of.name}${action.subresource ? ' (status)' : ''}`
          : action.do,
    );

/** The InternalMemberCluster after the writes of the decision. */
function carriedOut(seen: Observed, { steps }: Decision): InternalMemberCluster {
  let internal = seen.internal;
  for (const action of steps.flat()) {
    if (action.do !== 'patch' || action.subresource !== 'status') continue;
    internal = applyMergePatch(internal as never, action.merge as Json) as unknown as InternalMemberCluster;
  }
  return internal;
}

const beaten = (more: Partial<Observed> = {}): Observed => {
  const seen = observed(more);
  return { ...seen, internal: carriedOut(seen, decide(seen)) };
};
const agentOf = ({ status }: InternalMemberCluster) => status?.agentStatus?.find((each) => each.type === 'MemberAgent');
const condition = (internal: InternalMemberCluster, type: string): Condition | undefined =>
  agentOf(internal)?.conditions?.find((each) => each.type === type);

describe('an agent that is to join', () => {
  test('waits for the first answer of its API server', () => {
    const { beat: _beat, ...seen } = observed();
    expect(decide(seen).steps).toEqual([]);
  });

  test('waits a little for what it is to report, but not if it is ill, and not for long', () => {
    const facts = { nodes: [], pods: [] };
    expect(decide(observed({ facts }))).toMatchObject({ steps: [], wakeAt: NOW + 10_000 });
    expect(decide(observed({ facts, now: NOW + 10_000 })).steps).not.toEqual([]);
    expect(decide(observed({ facts, beat: beatAt(NOW, { ok: false, cause: 'down' }) })).steps).not.toEqual([]);
    expect(decide({ ...beaten(), facts, beat: beatAt(NOW + 60_000) }).steps).not.toEqual([]);
  });

  test('reports in one write, and tells that it joined and is healthy', () => {
    expect(words(decide(observed()))).toEqual([
      'patch InternalMemberCluster east (status)',
      'Normal InternalMemberClusterJoined',
      'Normal InternalMemberClusterHealthy',
    ]);
    const { internal } = beaten();
    expect(agentOf(internal)).toEqual({
      type: 'MemberAgent',
      lastReceivedHeartbeat: STAMP,
      conditions: [
        {
          type: 'Joined',
          status: 'True',
          reason: 'InternalMemberClusterJoined',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: STAMP,
        },
        {
          type: 'Healthy',
          status: 'True',
          reason: 'InternalMemberClusterHealthy',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: STAMP,
        },
      ],
    });
  });

  test('has nothing to write until the next beat, whatever else than its namespaces changes', () => {
    const seen = beaten();
    expect(decide(seen).steps).toEqual([]);
    const facts = {
      nodes: [{ metadata: {}, capacity: { cpu: 1, memory: 1 }, allocatable: { cpu: 1, memory: 1 } }],
      pods: [],
      namespaces: null,
    };
    expect(decide({ ...seen, facts, now: NOW + 30_000 }).steps).toEqual([]);
  });

  describe('whose namespaces are others than it has told', () => {
    const named = (...names: readonly string[]) =>
      names.map((name) => ({ metadata: { name }, placedBy: '', isTerminating: false }));
    const rival = beatAt(NOW - 30_000).stamp;
    const seen = beaten({ facts: { nodes: [], pods: [], namespaces: named('a') }, rival });
    const { rival: _rival, ...before } = seen;
    const node = { metadata: {}, capacity: { cpu: 1, memory: 1 }, allocatable: { cpu: 1, memory: 1 } };
    const facts = { nodes: [node], pods: [], namespaces: named('b', 'a') };
    const changedSince = NOW + 5000;
    const news = { ...before, facts, changedSince };

    test('gathers them for a second', () => {
      expect(decide({ ...news, now: changedSince })).toMatchObject({ steps: [], wakeAt: changedSince + 1000 });
      expect(decide({ ...news, now: changedSince + 999 })).toMatchObject({ steps: [], wakeAt: changedSince + 1000 });
    });

    test('then tells them and nothing else: it is no heartbeat', () => {
      const due = { ...news, now: changedSince + 1000 };
      expect(words(decide(due))).toEqual(['patch InternalMemberCluster east (status)']);
      expect(carriedOut(due, decide(due)).status).toEqual({ ...before.internal.status, namespaces: { a: '', b: '' } });
    });

    test('says when they have become too many to be told', () => {
      const many = named(...Array.from({ length: 4001 }, (_, n) => `n${n}`));
      const due = { ...news, facts: { ...facts, namespaces: many }, now: changedSince + 1000 };
      const { status } = carriedOut(due, decide(due));
      expect(status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
        'NamespaceCollectionSucceeded Degraded',
        'SoleAgent AnotherAgentReports',
      ]);
    });

    test('leaves it to a heartbeat that is due', () => {
      const due = { ...news, now: NOW + 60_000, beat: beatAt(NOW + 60_000) };
      expect(decide(due).steps.flat()).toHaveLength(1);
      expect(agentOf(carriedOut(due, decide(due)))?.lastReceivedHeartbeat).toBe(kubeTime(NOW + 60_000));
    });
  });

  test('does not tell a heartbeat twice because another agent has put its own in its place', () => {
    const seen = beaten();
    const rival = kubeTime(NOW + 30_000);
    const agentStatus = (seen.internal.status?.agentStatus ?? []).map((each) => ({
      ...each,
      lastReceivedHeartbeat: rival,
    }));
    const internal = { ...seen.internal, status: { ...seen.internal.status, agentStatus } };
    const taken = { ...seen, internal, rival, now: NOW + 40_000 };
    expect(decide({ ...taken, isTold: false }).steps).not.toEqual([]);
    expect(decide({ ...taken, isTold: true }).steps).toEqual([]);
  });

  test('writes once per beat and tells nothing new', () => {
    const seen = beaten();
    const next = { ...seen, now: NOW + 60_000, beat: beatAt(NOW + 60_000) };
    expect(words(decide(next))).toEqual(['patch InternalMemberCluster east (status)']);
    expect(condition(carriedOut(next, decide(next)), 'Joined')?.lastTransitionTime).toBe(STAMP);
  });

  test('answers a new order at once', () => {
    const seen = beaten();
    const next = { ...seen, internal: { ...seen.internal, metadata: { ...seen.internal.metadata, generation: 2 } } };
    expect(words(decide(next))).toEqual(['patch InternalMemberCluster east (status)']);
    expect(condition(carriedOut(next, decide(next)), 'Joined')?.observedGeneration).toBe(2);
  });

  test('reports the cause when its API server is ill, and warns once', () => {
    const ill = { ok: false, cause: 'connect ECONNREFUSED 127.0.0.1:6443' } as const;
    const seen = { ...beaten(), beat: beatAt(NOW + 60_000, ill), now: NOW + 60_000 };
    expect(words(decide(seen))).toEqual([
      'patch InternalMemberCluster east (status)',
      'Warning InternalMemberClusterUnhealthy',
    ]);
    const internal = carriedOut(seen, decide(seen));
    expect(condition(internal, 'Healthy')).toMatchObject({ status: 'False', message: ill.cause });
    expect(condition(internal, 'Joined')).toMatchObject({ status: 'True' });
    const again = { ...seen, internal, beat: beatAt(NOW + 120_000, ill), now: NOW + 120_000 };
    expect(words(decide(again))).toEqual(['patch InternalMemberCluster east (status)']);
    expect(condition(carriedOut(again, decide(again)), 'Healthy')?.lastTransitionTime).toBe(kubeTime(NOW + 60_000));
  });

  test('leaves the entries of other agents as they are', () => {
    const other = { type: 'MultiClusterServiceAgent', lastReceivedHeartbeat: 'x' };
    const { internal } = beaten({ internal: anInternal({ status: { agentStatus: [other] } }) });
    expect(internal.status?.agentStatus).toContainEqual(other);
    expect(internal.status?.agentStatus).toHaveLength(2);
  });

  test('takes back what it no longer reports', () => {
    const seen = beaten({
      facts: { nodes: [], pods: [], namespaces: [{ metadata: { name: 'a' }, placedBy: '', isTerminating: false }] },
    });
    expect(seen.internal.status?.conditions?.map(({ type }) => type)).toEqual(['NamespaceCollectionSucceeded']);
    const next = {
      ...seen,
      facts: { nodes: [], pods: [], namespaces: null },
      beat: beatAt(NOW + 60_000),
    };
    const { status } = carriedOut(next, decide(next));
    expect(status).not.toHaveProperty('namespaces');
    expect(status).not.toHaveProperty('conditions');
  });

  test('says when another agent reports under its name, warns once, and takes it back when it is alone', () => {
    const rival = '2026-01-01T00:09:30Z';
    const seen = observed({ ...beaten(), rival, beat: beatAt(NOW + 60_000) });
    expect(words(decide(seen))).toEqual(['patch InternalMemberCluster east (status)', 'Warning AnotherAgentReports']);
    const internal = carriedOut(seen, decide(seen));
    expect(internal.status?.conditions?.find(({ type }) => type === 'SoleAgent')).toMatchObject({
      status: 'False',
      reason: 'AnotherAgentReports',
      message: expect.stringContaining(rival),
    });
    const again = { ...seen, internal, beat: beatAt(NOW + 120_000) };
    expect(words(decide(again))).toEqual(['patch InternalMemberCluster east (status)']);
    const { rival: _rival, ...alone } = {
      ...again,
      internal: carriedOut(again, decide(again)),
      beat: beatAt(NOW + 180_000),
    };
    expect(carriedOut(alone, decide(alone)).status?.conditions?.some(({ type }) => type === 'SoleAgent')).toBe(false);
  });
});

describe('an agent that is to leave', () => {
  const leaving = (more: Partial<Observed> = {}) => {
    const seen = beaten();
    const internal = {
      ...seen.internal,
      metadata: { ...seen.internal.metadata, generation: 2 },
      spec: { ...seen.internal.spec, state: 'Leave' as const },
    };
    return { ...seen, internal, ...more };
  };

  test('lets go of its Works, then says so', () => {
    const seen = leaving({ works: [aWork('b'), aWork('a'), aWork('c', ['other'])] });
    const decision = decide(seen);
    expect(decision.steps.map((step) => step.length)).toEqual([2, 1, 1]);
    expect(words(decision)).toEqual([
      'patch Work a',
      'patch Work b',
      'patch InternalMemberCluster east (status)',
      'Normal InternalMemberClusterLeft',
    ]);
    const internal = carriedOut(seen, decision);
    expect(condition(internal, 'Joined')).toMatchObject({
      status: 'False',
      reason: 'InternalMemberClusterLeft',
      observedGeneration: 2,
    });
    expect(agentOf(internal)?.lastReceivedHeartbeat).toBe(STAMP);
  });

  test('takes off its own finalizer alone', () => {
    const [action] = decide(
      leaving({ works: [aWork('a', ['x', 'kubernetes-fleet.io/work-cleanup', 'y'])] }),
    ).steps.flat();
    expect((action as Extract<Action, { do: 'patch' }>).merge).toEqual({ metadata: { finalizers: ['x', 'y'] } });
  });

  test('is silent from then on', () => {
    const seen = leaving();
    const left = { ...seen, internal: carriedOut(seen, decide(seen)) };
    expect(decide({ ...left, now: NOW + 600_000, beat: beatAt(NOW + 600_000) }).steps).toEqual([]);
  });

  test('answers every order to leave, also when it had left before', () => {
    const seen = leaving();
    const left = carriedOut(seen, decide(seen));
    const again = { ...left, metadata: { ...left.metadata, generation: 4 } };
    expect(words(decide({ ...seen, internal: again, works: [aWork('a')] }))).toEqual([
      'patch Work a',
      'patch InternalMemberCluster east (status)',
    ]);
  });

  test('leaves without ever having joined, and without an answer of its API server', () => {
    const { beat: _beat, ...seen } = observed({ internal: anInternal({ state: 'Leave' }) });
    expect(words(decide(seen))).toEqual([
      'patch InternalMemberCluster east (status)',
      'Normal InternalMemberClusterLeft',
    ]);
  });

  test('complains when it may not let go, warns once, and goes on trying', () => {
    const seen = leaving({ works: [aWork('a')], failure: { reason: 'Forbidden', message: 'works "a" is forbidden' } });
    const decision = decide(seen);
    expect(words(decision)).toEqual([
      'patch InternalMemberCluster east (status)',
      'Warning InternalMemberClusterFailedToLeave',
      'patch Work a',
    ]);
    const internal = carriedOut(seen, decision);
    expect(condition(internal, 'Joined')).toMatchObject({ status: 'Unknown', message: 'works "a" is forbidden' });
    expect(words(decide({ ...seen, internal }))).toEqual([
      'patch Work a',
      'patch InternalMemberCluster east (status)',
      'Normal InternalMemberClusterLeft',
    ]);
    const { failure: _failure, ...free } = { ...seen, internal, works: [] };
    expect(words(decide(free))).toEqual([
      'patch InternalMemberCluster east (status)',
      'Normal InternalMemberClusterLeft',
    ]);
  });
});

test('an agent does nothing about a state it does not know', () => {
  const internal = { ...anInternal(), spec: { state: 'Dance' as 'Join', heartbeatPeriodSeconds: 60 } };
  expect(decide(observed({ internal }))).toMatchObject({ steps: [], because: expect.stringContaining('Dance') });
});

describe('wherever an agent dies', () => {
  const anyState = fc.record({
    leaves: fc.boolean(),
    works: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 5 }),
    dies: fc.infiniteStream(fc.nat(4)),
    reversed: fc.boolean(),
  });

  test('it ends with one report and no Work held if it was to leave, whatever order the Works come in', () => {
    fc.assert(
      fc.property(anyState, ({ leaves, works, dies, reversed }) => {
        const internal = anInternal(leaves ? { state: 'Leave', generation: 2 } : {});
        let seen = observed({ internal, works: works.map((name) => aWork(name)) });
        expect(decide({ ...seen, works: seen.works.toReversed() })).toEqual(decide(seen));
        for (let pass = 0; pass < 30; pass++) {
          const decision = decide(seen);
          if (decision.steps.length === 0) break;
          let left = dies.next().value as number;
          for (const step of decision.steps) {
            for (const action of reversed ? step.toReversed() : step) {
              if (left-- <= 0) break;
              if (action.do !== 'patch') continue;
              // A report that all Works are released must be true when it is written.
              if (action.subresource && leaves)
                expect(seen.works.filter(({ metadata }) => metadata.finalizers?.length)).toEqual([]);
              seen = action.subresource
                ? { ...seen, internal: carriedOut(seen, { ...decision, steps: [[action]] }) }
                : {
                    ...seen,
                    works: seen.works.map((work) =>
                      work.metadata.name === action.of.name ? { metadata: { ...work.metadata, finalizers: [] } } : work,
                    ),
                  };
            }
          }
        }
        while (decide(seen).steps.length > 0) {
          const decision = decide(seen);
          const touched = new Set(
            decision.steps.flat().flatMap((each) => (each.do === 'patch' && !each.subresource ? [each.of.name] : [])),
          );
          seen = {
            ...seen,
            internal: carriedOut(seen, decision),
            works: seen.works.map((work) =>
              touched.has(work.metadata.name ?? '') ? { metadata: { ...work.metadata, finalizers: [] } } : work,
            ),
          };
        }
        expect(condition(seen.internal, 'Joined')?.status).toBe(leaves ? 'False' : 'True');
      }),
    );
  });
});
