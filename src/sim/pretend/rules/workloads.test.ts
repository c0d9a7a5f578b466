import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../test/properties.ts';
import type { ControllerRevision, DaemonSet, Job, Node, Pod, StatefulSet } from '../../../api/builtin/shapes.ts';
import { kubeTime } from '../../../base/clock.ts';
import { Model } from '../model.testing.ts';
import { isActive, isReady } from '../pods.ts';
import { DEFAULT_PROFILE } from '../profile.ts';
import { controllerRevisions, daemonSets, jobs, pods, statefulSets } from '../resources.ts';
import type { Write } from '../rule.ts';
import { daemonSet, nodeOf } from './daemon-set.ts';
import { formatIndexes, job } from './job.ts';
import { statefulSet } from './stateful-set.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'main', image }] },
});
const dice = fc.infiniteStream(fc.nat(1000));
const NONE: ReadonlySet<string> = new Set();

const makeReady = (model: Model, pod: Pod) =>
  model.change(pods, pod.metadata.name ?? '', {
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: kubeTime(model.now) }],
    },
  });
const imageOf = (pod: Pod) => pod.spec?.containers[0]?.image;
const shuffle = <T>(items: readonly T[], roll: (sides: number) => number): readonly T[] =>
  items
    .map((item) => ({ item, at: roll(1000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
const texts = (writes: readonly Write[]) => writes.map((write) => JSON.stringify(write)).toSorted();

describe('a StatefulSet, whatever happens to its Pods and in whatever order', () => {
  const look = (model: Model, order = <T>(items: readonly T[]) => items): readonly Write[] => {
    const object = model.get<StatefulSet>(statefulSets, 'db');
    if (object === undefined) return [];
    const related = {
      pods: order(model.all<Pod>(pods)),
      revisions: order(model.all<ControllerRevision>(controllerRevisions)),
      claims: NONE,
    };
    return statefulSet(object, related, model.now, DEFAULT_PROFILE).writes;
  };

  test('starts no Pod before those below are ready, takes down one at a time, keeps its partition, and finishes', () => {
    const cases = fc.record({
      replicas: fc.integer({ min: 1, max: 5 }),
      partition: fc.integer({ min: 0, max: 3 }),
      podManagementPolicy: fc.constantFrom('OrderedReady', 'Parallel'),
      dice,
    });
    const ordinalOf = ({ metadata }: { readonly metadata: Pod['metadata'] }) => Number((metadata.name ?? '').slice(3));
    fc.assert(
      fc.property(cases, ({ replicas, partition, podManagementPolicy, dice: stream }) => {
        const roll = (sides: number) => stream.next().value % sides;
        const model = new Model();
        const spec = {
          replicas,
          serviceName: 'db',
          selector: { matchLabels: { app: 'x' } },
          template: template('x:1'),
          podManagementPolicy,
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
        };
        model.put(statefulSets, { metadata: { name: 'db' }, spec });
        const apply = (write: Write) => {
          if (write.do === 'create' && write.resource === pods && podManagementPolicy === 'OrderedReady') {
            const lower = model.all<Pod>(pods).filter((pod) => ordinalOf(pod) < ordinalOf(write.object));
            expect(lower.filter(isReady).length).toBe(ordinalOf(write.object));
          }
          model.apply(write);
        };
        const settle = () => {
          for (let i = 0; i < 100; i++) {
            const writes = look(model);
            expect(texts(look(model, (items) => shuffle(items, roll)))).toEqual(texts(writes));
            for (const write of writes) apply(write);
            const asleep = model.all<Pod>(pods).filter((pod) => !isReady(pod));
            for (const pod of asleep) makeReady(model, pod);
            if (writes.length + asleep.length === 0) return;
          }
          throw new Error('it does not end');
        };
        settle();
        model.change(statefulSets, 'db', { spec: { template: template('x:2') } });
        for (let step = 0; step < 40; step++) {
          const writes = look(model);
          for (const write of writes.slice(0, roll(writes.length + 1))) apply(write);
          const asleep = model.all<Pod>(pods).filter((pod) => !isReady(pod));
          if (asleep.length > 0 && roll(3) === 0) makeReady(model, asleep[0] as Pod);
          expect(model.all<Pod>(pods).filter(isReady).length).toBeGreaterThanOrEqual(replicas - 1);
        }
        settle();
        const images = model
          .all<Pod>(pods)
          .toSorted((a, b) => ordinalOf(a) - ordinalOf(b))
          .map(imageOf);
        expect(images).toEqual(Array.from({ length: replicas }, (_, ordinal) => (ordinal < partition ? 'x:1' : 'x:2')));
      }),
      { numRuns: runs(80) },
    );
  });
});

describe('a DaemonSet, while nodes come and go', () => {
  test('ends with one Pod of the last template on every node, and while updating keeps to its budget', () => {
    const cases = fc.record({
      count: fc.integer({ min: 1, max: 6 }),
      maxUnavailable: fc.integer({ min: 1, max: 3 }),
      dice,
    });
    fc.assert(
      fc.property(cases, ({ count, maxUnavailable, dice: stream }) => {
        const roll = (sides: number) => stream.next().value % sides;
        const model = new Model();
        const aNode = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }) as Node;
        let nodes = Array.from({ length: count }, (_, index) => aNode(`n${index}`));
        const look = (order = <T>(items: readonly T[]) => items) => {
          const object = model.get<DaemonSet>(daemonSets, 'agent') as DaemonSet;
          const related = {
            pods: order(model.all<Pod>(pods)),
            revisions: order(model.all<ControllerRevision>(controllerRevisions)),
            nodes: order(nodes),
          };
          return daemonSet(object, related, model.now, DEFAULT_PROFILE).writes;
        };
        const settle = () => {
          for (let i = 0; i < 100; i++) {
            const writes = look();
            expect(texts(look((items) => shuffle(items, roll)))).toEqual(texts(writes));
            for (const write of writes) model.apply(write);
            const asleep = model.all<Pod>(pods).filter((pod) => !isReady(pod));
            for (const pod of asleep) makeReady(model, pod);
            if (writes.length + asleep.length === 0) return;
          }
          throw new Error('it does not end');
        };
        const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge: 0 } };
        model.put(daemonSets, {
          metadata: { name: 'agent' },
          spec: { selector: { matchLabels: { app: 'x' } }, template: template('x:1'), updateStrategy },
        });
        settle();
        model.change(daemonSets, 'agent', { spec: { template: template('x:2') } });
        for (let step = 0; step < 30; step++) {
          const writes = look();
          for (const write of writes.slice(0, roll(writes.length + 1))) model.apply(write);
          const asleep = model.all<Pod>(pods).filter((pod) => !isReady(pod));
          if (asleep.length > 0 && roll(3) === 0) makeReady(model, asleep[roll(asleep.length)] as Pod);
          expect(model.all<Pod>(pods).filter(isReady).length).toBeGreaterThanOrEqual(count - maxUnavailable);
          expect(model.all<Pod>(pods).filter(isActive).length).toBeLessThanOrEqual(count);
        }
        nodes = [...nodes.slice(1), aNode('late')];
        settle();
        const found = model.all<Pod>(pods).map((pod) => `${nodeOf(pod)} ${imageOf(pod)}`);
        expect(found.toSorted()).toEqual(nodes.map((node) => `${node.metadata.name} x:2`).toSorted());
      }),
      { numRuns: runs(60) },
    );
  });

  test('with maxSurge puts the new Pod beside the old one first', () => {
    const model = new Model();
    const nodes = ['a', 'b', 'c'].map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }) as Node);
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
    const pass = () => {
      const object = model.get<DaemonSet>(daemonSets, 'agent') as DaemonSet;
      const related = {
        pods: model.all<Pod>(pods),
        revisions: model.all<ControllerRevision>(controllerRevisions),
        nodes,
      };
      for (const write of daemonSet(object, related, model.now, DEFAULT_PROFILE).writes) model.apply(write);
    };
    model.put(daemonSets, {
      metadata: { name: 'agent' },
      spec: { selector: { matchLabels: { app: 'x' } }, template: template('x:1'), updateStrategy },
    });
    const run = (rounds: number) => {
      for (let i = 0; i < rounds; i++) {
        pass();
        expect(model.all<Pod>(pods).length).toBeLessThanOrEqual(4);
        if (i % 2 === 1) for (const pod of model.all<Pod>(pods)) makeReady(model, pod);
      }
    };
    run(6);
    model.change(daemonSets, 'agent', { spec: { template: template('x:2') } });
    for (let i = 0; i < 10; i++) {
      run(2);
      expect(model.all<Pod>(pods).filter(isReady).length).toBeGreaterThanOrEqual(3);
    }
    expect(model.all<Pod>(pods).map(imageOf)).toEqual(['x:2', 'x:2', 'x:2']);
  });

  test.each([
    {
      it: 'a taint NoSchedule: its Pod stays, and counts as misplaced',
      spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] },
      pods: 1,
      desired: 0,
      misplaced: 1,
    },
    {
      it: 'a taint NoExecute: its Pod goes',
      spec: { taints: [{ key: 'x', effect: 'NoExecute' }] },
      pods: 0,
      desired: 0,
      misplaced: 0,
    },
    { it: 'cordoned: a daemon does not care', spec: { unschedulable: true }, pods: 1, desired: 1, misplaced: 0 },
  ])('a node gets $it', ({ spec, pods: left, desired, misplaced }) => {
    const model = new Model();
    let nodes = [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } } as Node];
    const settle = () => {
      for (let i = 0; i < 6; i++) {
        const related = {
          pods: model.all<Pod>(pods),
          revisions: model.all<ControllerRevision>(controllerRevisions),
          nodes,
        };
        for (const write of daemonSet(
          model.get<DaemonSet>(daemonSets, 'agent') as DaemonSet,
          related,
          model.now,
          DEFAULT_PROFILE,
        ).writes)
          model.apply(write);
      }
    };
    model.put(daemonSets, {
      metadata: { name: 'agent' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: template('x:1'),
        updateStrategy: { type: 'RollingUpdate' },
      },
    });
    settle();
    nodes = nodes.map((node) => ({ ...node, spec }) as Node);
    settle();
    expect(model.all(pods)).toHaveLength(left);
    expect(model.get<DaemonSet>(daemonSets, 'agent')?.status).toMatchObject({
      desiredNumberScheduled: desired,
      numberMisscheduled: misplaced,
    });
  });
});

describe('a Job', () => {
  const finish = (model: Model, pod: Pod, phase: 'Succeeded' | 'Failed') =>
    model.change(pods, pod.metadata.name ?? '', {
      status: {
        phase,
        containerStatuses: [
          {
            name: 'main',
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: kubeTime(model.now) } },
          },
        ],
      },
    });

  test('never runs more Pods than parallelism, never more than it needs, and completes', () => {
    const cases = fc.record({
      completions: fc.integer({ min: 1, max: 6 }),
      parallelism: fc.integer({ min: 1, max: 4 }),
      completionMode: fc.constantFrom('NonIndexed', 'Indexed'),
      dice,
    });
    fc.assert(
      fc.property(cases, ({ completions, parallelism, completionMode, dice: stream }) => {
        const roll = (sides: number) => stream.next().value % sides;
        const model = new Model();
        model.put(jobs, {
          metadata: { name: 'sum' },
          spec: { completions, parallelism, completionMode, backoffLimit: 1000, template: template('x:1') },
        });
        for (let step = 0; step < 400; step++) {
          const object = model.get<Job>(jobs, 'sum') as Job;
          const { writes } = job(object, { pods: model.all<Pod>(pods) }, model.now, DEFAULT_PROFILE);
          for (const write of writes.slice(0, roll(writes.length + 1))) model.apply(write);
          const active = model.all<Pod>(pods).filter(isActive);
          const succeeded = model.all<Pod>(pods).filter((pod) => pod.status?.phase === 'Succeeded').length;
          expect(active.length).toBeLessThanOrEqual(Math.min(parallelism, completions - succeeded));
          if (active.length > 0 && roll(2) === 0)
            finish(model, active[roll(active.length)] as Pod, roll(6) === 0 ? 'Failed' : 'Succeeded');
          model.now += 600_000;
        }
        const done = model.get<Job>(jobs, 'sum')?.status;
        expect(done?.succeeded).toBe(completions);
        expect(done?.conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete']);
        if (completionMode === 'Indexed')
          expect(done?.completedIndexes).toBe(formatIndexes(Array.from({ length: completions }, (_, i) => i)));
      }),
      { numRuns: runs(40) },
    );
  });

  test.each([
    [[], ''],
    [[0], '0'],
    [[0, 1], '0,1'],
    [[0, 1, 2], '0-2'],
    [[0, 2, 3, 4, 7, 8], '0,2-4,7,8'],
  ])('indexes %j are written %s', (indexes, text) => {
    expect(formatIndexes(indexes)).toBe(text);
  });
});
