// Membership against a small model of an API server: whatever happens to a member and wherever the hub crashes,
// everything is up to date in the end.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memberRules } from '../../api/agent-rights.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import type { Resource } from '../../api/kind.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { finalizers, labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { applyMergePatch } from '../../apiserver/patch/merge-patch.ts';
import { kubeTime } from '../../base/clock.ts';
import { deepEqual, type Json } from '../../base/json.ts';
import type { Action, Projected, Source } from '../../runtime/controller.ts';
import { type Beat, beatSeen } from '../members/beats.ts';
import { internalMemberClusters, memberClusters, namespaces, roleBindings, roles } from '../sources.ts';
import { works } from '../work-source.ts';
import { defaultSettings } from './controller.ts';
import { decide } from './decide.ts';
import { aCluster, aCondition, anAgent, aWork, NOW } from './member.testing.ts';
import type { Observed } from './observed.ts';
import { agentsOf, memberAgentOf } from './report.ts';

const PLACE = 'fleet-member-east';
const MINUTE = 60_000;

class Refused extends Error {}

/** Objects by `plural/namespace/name`, with only the API server rules that membership relies on. */
class Model {
  now = NOW;
  revision = 10;
  readonly objects = new Map<string, KubeObject>();
  beat: Beat | undefined;

  key(resource: Pick<Resource, 'plural'>, name: string, namespace = ''): string {
    return `${resource.plural}/${namespace}/${name}`;
  }

  put(key: string, object: KubeObject): void {
    this.objects.set(key, { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.revision) } });
  }

  drop(key: string): void {
    this.revision++;
    this.objects.delete(key);
  }

  see<T extends Projected>(source: Source<T>, name: string, namespace = ''): T | undefined {
    const object = this.objects.get(this.key(source.resource, name, namespace));
    return object === undefined ? undefined : (source.project?.(object) as T);
  }

  all<T extends Projected>(source: Source<T>): readonly T[] {
    return [...this.objects]
      .filter(([key]) => key.startsWith(`${source.resource.plural}/`))
      .map(([, object]) => source.project?.(object) as T);
  }

  observe(): Observed | undefined {
    const cluster = this.see(memberClusters, 'east');
    if (cluster === undefined) return undefined;
    const internal = this.see(internalMemberClusters, 'east', PLACE);
    const namespace = this.see(namespaces, PLACE);
    const role = this.see(roles, 'fleet-role-east', PLACE);
    const roleBinding = this.see(roleBindings, 'fleet-rolebinding-east', PLACE);
    const stamp = memberAgentOf(agentsOf({ cluster, ...(internal ? { internal } : {}) }))?.lastReceivedHeartbeat;
    const { uid = '' } = cluster.metadata;
    if (stamp !== undefined) this.beat = beatSeen(this.beat, { uid, stamp, now: this.now });
    return {
      cluster,
      ...(internal ? { internal } : {}),
      ...(namespace ? { namespace } : {}),
      ...(role ? { role } : {}),
      ...(roleBinding ? { roleBinding } : {}),
      works: this.all(works),
      ...(stamp === undefined ? {} : { beatSeenAt: (this.beat as Beat).seenAt }),
      now: this.now,
      settings: defaultSettings,
    };
  }

  apply(action: Action): void {
    switch (action.do) {
      case 'event':
        return;
      case 'create': {
        const { name = '', namespace } = action.object.metadata;
        const key = this.key(action.resource, name, namespace);
        if (this.objects.has(key)) throw new Refused(`AlreadyExists ${key}`);
        if (namespace !== undefined) {
          const place = this.objects.get(this.key(namespaces.resource, namespace));
          if (place === undefined || place.metadata.deletionTimestamp !== undefined)
            throw new Refused(`no place for ${key}`);
        }
        this.put(key, {
          ...action.object,
          metadata: { ...action.object.metadata, uid: `uid-${this.revision}`, generation: 1 },
        });
        return;
      }
      case 'patch': {
        const key = this.key(action.of.resource, action.of.name, action.of.namespace);
        const old = this.objects.get(key);
        if (old?.metadata.uid !== action.of.uid || old.metadata.resourceVersion !== action.of.resourceVersion) {
          throw new Refused(`Conflict ${key}`);
        }
        this.change(
          key,
          applyMergePatch(old as never, action.merge as Json) as unknown as KubeObject,
          action.subresource,
        );
        return;
      }
      case 'delete': {
        const key = this.key(action.of.resource, action.of.name, action.of.namespace);
        const old = this.objects.get(key);
        if (old?.metadata.uid !== action.of.uid || old.metadata.resourceVersion !== action.of.resourceVersion) {
          throw new Refused(`Conflict ${key}`);
        }
        this.remove(key);
      }
    }
  }

  change(key: string, wanted: KubeObject, subresource?: 'status'): void {
    const old = this.objects.get(key) as KubeObject;
    const next =
      subresource === 'status'
        ? { ...old, status: wanted.status }
        : { ...wanted, ...(old.status === undefined ? {} : { status: old.status }) };
    if (deepEqual(next, old)) return;
    const isNewSpec = !deepEqual(next.spec, old.spec);
    const generation = (old.metadata.generation ?? 1) + (isNewSpec ? 1 : 0);
    this.put(key, { ...next, metadata: { ...next.metadata, generation } });
    this.collect(key);
  }

  /** Removes an object that is marked for deletion and has no finalizers. */
  collect(key: string): void {
    const { metadata, kind } = this.objects.get(key) as KubeObject;
    if (kind === 'Namespace' || metadata.deletionTimestamp === undefined) return;
    if ((metadata.finalizers ?? []).length === 0) this.drop(key);
  }

  remove(key: string): void {
    const old = this.objects.get(key);
    if (old === undefined || old.metadata.deletionTimestamp !== undefined) return;
    if (old.kind !== 'Namespace' && (old.metadata.finalizers ?? []).length === 0) {
      this.drop(key);
      return;
    }
    const generation = (old.metadata.generation ?? 1) + 1;
    this.put(key, { ...old, metadata: { ...old.metadata, deletionTimestamp: kubeTime(this.now), generation } });
  }

  /** Garbage collection by the API server: a terminating namespace deletes its content. */
  housekeeping(): void {
    const place = this.objects.get(`namespaces//${PLACE}`);
    if (place?.metadata.deletionTimestamp === undefined) return;
    const content = [...this.objects.keys()].filter((key) => key.includes(`/${PLACE}/`));
    for (const key of content) this.remove(key);
    if (![...this.objects.keys()].some((key) => key.includes(`/${PLACE}/`))) this.drop(`namespaces//${PLACE}`);
  }

  /** One reconcile of a hub that crashes after some of its actions; those of one step may run in any order. */
  pass(diesAfter = Number.POSITIVE_INFINITY, isReversed = false): number {
    const seen = this.observe();
    if (seen === undefined) return 0;
    const { steps } = decide(seen);
    let done = 0;
    for (const step of steps) {
      for (const action of isReversed ? step.toReversed() : step) {
        if (done >= diesAfter) return done;
        try {
          this.apply(action);
        } catch (error) {
          if (error instanceof Refused) return done + 1;
          throw error;
        }
        done++;
      }
    }
    return done;
  }

  // ---- the agent

  get internal(): InternalMemberCluster | undefined {
    return this.objects.get(`internalmemberclusters/${PLACE}/east`) as InternalMemberCluster | undefined;
  }

  /** An agent with permissions does what the hub asks. */
  agent(): void {
    const { internal } = this;
    if (internal === undefined || !this.objects.has(`rolebindings/${PLACE}/fleet-rolebinding-east`)) return;
    const isLeaving = internal.spec.state === 'Leave';
    if (isLeaving) {
      for (const [key, object] of [...this.objects]) {
        if (object.kind !== 'Work') continue;
        const rest = (object.metadata.finalizers ?? []).filter((each) => each !== finalizers.workCleanup);
        this.change(key, { ...object, metadata: { ...object.metadata, finalizers: rest } });
      }
    }
    const stamp = isLeaving ? kubeTime(NOW) : kubeTime(this.now);
    const { generation = 1 } = internal.metadata;
    const agentStatus = [anAgent(isLeaving ? 'False' : 'True', { generation, stamp })];
    this.change(`internalmemberclusters/${PLACE}/east`, { ...internal, status: { agentStatus } }, 'status');
  }
}

type Move = (model: Model) => void;

const editMeta =
  (key: string, edit: (metadata: ObjectMeta) => ObjectMeta): Move =>
  (model) => {
    const object = model.objects.get(key);
    if (object !== undefined) model.change(key, { ...object, metadata: edit(object.metadata) });
  };

/** The actions of users, agents and time on a member. */
const MOVES: Readonly<Record<string, Move>> = {
  'the hub passes': (model) => void model.pass(),
  'the hub dies after one action': (model) => void model.pass(1),
  'the hub dies after two actions, the last first': (model) => void model.pass(2, true),
  'the hub dies after three actions': (model) => void model.pass(3),
  'the hub restarts': (model) => {
    model.beat = undefined;
  },
  'the agent acts': (model) => model.agent(),
  housekeeping: (model) => model.housekeeping(),
  'a minute passes': (model) => {
    model.now += MINUTE;
  },
  'ten minutes pass': (model) => {
    model.now += 10 * MINUTE;
  },
  'somebody deletes the namespace': (model) => model.remove(`namespaces//${PLACE}`),
  'somebody deletes the Role': (model) => model.remove(`roles/${PLACE}/fleet-role-east`),
  'somebody deletes the RoleBinding': (model) => model.remove(`rolebindings/${PLACE}/fleet-rolebinding-east`),
  'somebody deletes the InternalMemberCluster': (model) => model.remove(`internalmemberclusters/${PLACE}/east`),
  'somebody takes the labels off': editMeta('memberclusters//east', ({ labels: _labels, ...rest }) => rest),
  'somebody takes the owner off': editMeta(`namespaces//${PLACE}`, ({ ownerReferences: _owners, ...rest }) => rest),
  'somebody widens the Role': (model) => {
    const key = `roles/${PLACE}/fleet-role-east`;
    const role = model.objects.get(key);
    if (role !== undefined)
      model.change(key, { ...role, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
  },
  'somebody changes the identity': (model) => {
    const cluster = model.objects.get('memberclusters//east') as MemberCluster | undefined;
    if (cluster === undefined) return;
    model.change('memberclusters//east', {
      ...cluster,
      spec: { ...cluster.spec, identity: { kind: 'User', name: `user-${model.revision}` } },
    });
  },
  'somebody deletes the member': (model) => model.remove('memberclusters//east'),
  'a Work comes': (model) => {
    const place = model.objects.get(`namespaces//${PLACE}`);
    if (place === undefined || place.metadata.deletionTimestamp !== undefined) return;
    const work = aWork(`work-${model.revision}`);
    model.put(`works/${PLACE}/${work.metadata.name}`, work);
  },
};

const anyMoves = fc.array(fc.constantFrom(...Object.keys(MOVES)), { maxLength: 40 });

function settle(model: Model, isAgentAlive: boolean): void {
  for (let round = 0; round < 200; round++) {
    const before = model.revision;
    model.pass();
    model.housekeeping();
    if (isAgentAlive && model.internal?.spec.state === 'Leave') model.agent();
    if (model.revision !== before) continue;
    const seen = model.observe();
    const decision = seen === undefined ? undefined : decide(seen);
    // A leaving member requeues itself; a joined one is settled.
    if (seen?.cluster.metadata.deletionTimestamp === undefined || decision?.wakeAt === undefined) return;
    model.now = decision.wakeAt;
  }
  throw new Error('does not settle');
}

describe('membership, with a hub that dies anywhere and people who touch everything', () => {
  test('ends with a member that is all set up, or with nothing', () => {
    fc.assert(
      fc.property(anyMoves, fc.boolean(), (moves, isAgentAlive) => {
        const model = new Model();
        model.put('memberclusters//east', aCluster({ metadata: { finalizers: [], labels: {} } }));
        for (const move of moves) (MOVES[move] as Move)(model);
        settle(model, isAgentAlive);

        const cluster = model.see(memberClusters, 'east');
        if (cluster === undefined) {
          // A member that was deleted before the hub ever saw it leaves no objects behind.
          expect([...model.objects.keys()]).toEqual([]);
          return;
        }
        expect(cluster.metadata.deletionTimestamp).toBeUndefined();
        expect(cluster.metadata.labels).toEqual({ [labels.memberName]: 'east' });
        expect(conditionOf(cluster.status?.conditions, 'ReadyToJoin')?.status).toBe('True');
        expect(model.internal?.spec).toEqual({ state: 'Join', heartbeatPeriodSeconds: 60 });
        const place = model.see(namespaces, PLACE);
        expect(place?.metadata.ownerReferences).toMatchObject([{ uid: cluster.metadata.uid }]);
        expect(model.objects.get(`roles/${PLACE}/fleet-role-east`)?.['rules']).toEqual(memberRules);
        const subjects = model.objects.get(`rolebindings/${PLACE}/fleet-rolebinding-east`)?.['subjects'];
        expect(subjects).toMatchObject([{ name: cluster.spec.identity.name }]);
        expect(decide(model.observe() as Observed).steps).toEqual([]);
      }),
    );
  });

  test('never deletes the namespace of a member that stays, and of one that leaves only after asking', () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const model = new Model();
        model.put('memberclusters//east', aCluster({ metadata: { finalizers: [], labels: {} } }));
        for (const move of moves) {
          const seen = model.observe();
          const deletes = (seen === undefined ? [] : decide(seen).steps.flat()).some(
            (action) => action.do === 'delete' && action.of.resource.kind === 'Namespace',
          );
          if (deletes) {
            expect(seen?.cluster.metadata.deletionTimestamp).toBeDefined();
            const reports = [seen?.internal?.status, seen?.cluster.status].flatMap((each) => each?.agentStatus ?? []);
            // Without a report there is no agent to ask.
            if (reports.length > 0) expect([undefined, 'Leave']).toContain(seen?.internal?.spec.state);
          }
          (MOVES[move] as Move)(model);
        }
      }),
    );
  });

  test('decides the same whatever order the Works come in', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { maxLength: 8 });
    fc.assert(
      fc.property(names, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (all, dice) => {
        const model = new Model();
        model.put('memberclusters//east', aCluster({ metadata: { deletionTimestamp: kubeTime(NOW - MINUTE) } }));
        model.put(`namespaces//${PLACE}`, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: PLACE, uid: 'n', labels: { [labels.isFleetResource]: 'true' } },
        });
        for (const name of all) model.put(`works/${PLACE}/${name}`, aWork(name));
        const seen = model.observe() as Observed;
        const rolls = new Map(seen.works.map((work) => [work, dice.next().value as number]));
        const shuffled = seen.works.toSorted((a, b) => (rolls.get(a) ?? 0) - (rolls.get(b) ?? 0));
        expect(decide({ ...seen, works: shuffled })).toEqual(decide(seen));
      }),
    );
  });

  test('sees a condition that somebody forged replaced with the next report', () => {
    const model = new Model();
    model.put('memberclusters//east', aCluster({ metadata: { finalizers: [], labels: {} } }));
    settle(model, true);
    model.agent();
    settle(model, true);
    const cluster = model.objects.get('memberclusters//east') as MemberCluster;
    const forged = { ...cluster.status, conditions: [aCondition('Joined', 'False'), aCondition('Forged', 'True')] };
    model.change('memberclusters//east', { ...cluster, status: forged }, 'status');
    model.now += MINUTE;
    model.agent();
    settle(model, true);
    const conditions = model.see(memberClusters, 'east')?.status?.conditions;
    expect(conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'ReadyToJoin=True',
      'Joined=True',
      'Healthy=True',
    ]);
  });
});
