import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../test/properties.ts';
import type { Deployment, DeploymentSpec, Pod, ReplicaSet } from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { kubeTime } from '../../../base/clock.ts';
import { Model } from '../model.testing.ts';
import { isActive, isReady } from '../pods.ts';
import { DEFAULT_PROFILE } from '../profile.ts';
import { controllerOf } from '../reading.ts';
import { deployments, pods, replicaSets } from '../resources.ts';
import type { Write } from '../rule.ts';
import { deployment } from './deployment.ts';
import { replicaSet } from './replica-set.ts';
import { budgetOf, newestSize, olderSizes, proportionalSizes, type Sized } from './rolling.ts';

const sized = (name: string, size: number, available = size, annotatedMax?: number): Sized => ({
  name,
  size,
  available,
  annotatedMax,
  isBehind: false,
});

describe('a budget', () => {
  const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
    type: 'RollingUpdate',
    rollingUpdate: { maxSurge, maxUnavailable },
  });
  test.each([
    {
      it: 'surge rounds up, unavailable rounds down',
      replicas: 3,
      strategy: rolling('25%', '25%'),
      surge: 1,
      unavailable: 0,
    },
    { it: 'of 10 a quarter is 3 and 2', replicas: 10, strategy: rolling('25%', '25%'), surge: 3, unavailable: 2 },
    {
      it: 'when both come out as 0, one may be unavailable',
      replicas: 3,
      strategy: rolling(0, '10%'),
      surge: 0,
      unavailable: 1,
    },
    { it: 'no more can be unavailable than there are', replicas: 2, strategy: rolling(0, 5), surge: 0, unavailable: 2 },
    { it: 'of nothing there is nothing', replicas: 0, strategy: rolling('25%', '25%'), surge: 0, unavailable: 0 },
    { it: 'Recreate has none', replicas: 3, strategy: { type: 'Recreate' }, surge: 0, unavailable: 0 },
  ])('$it', ({ replicas, strategy, surge, unavailable }) => {
    expect(budgetOf({ replicas, strategy })).toEqual({ surge, unavailable });
  });
});

describe('sizes of ReplicaSets', () => {
  test.each([
    {
      it: 'the newest takes the surge',
      newest: 0,
      older: [sized('a', 3)],
      budget: { surge: 1, unavailable: 0 },
      size: 1,
    },
    {
      it: 'the newest takes what older ones left',
      newest: 1,
      older: [sized('a', 2)],
      budget: { surge: 1, unavailable: 0 },
      size: 2,
    },
    {
      it: 'it waits for an older one that still has Pods to lose',
      newest: 1,
      older: [{ ...sized('a', 2), isBehind: true }],
      budget: { surge: 1, unavailable: 0 },
      size: 1,
    },
    { it: 'it never has more than replicas', newest: 3, older: [], budget: { surge: 1, unavailable: 0 }, size: 3 },
    { it: 'it shrinks to replicas', newest: 5, older: [], budget: { surge: 1, unavailable: 0 }, size: 3 },
  ])('$it', ({ newest, older, budget, size }) => {
    expect(newestSize(3, budget, newest, older)).toBe(size);
  });

  test.each([
    {
      it: 'nothing goes while the new Pod is not available',
      newest: sized('b', 1, 0),
      older: [sized('a', 3)],
      gone: {},
    },
    { it: 'one goes for one that came', newest: sized('b', 1), older: [sized('a', 3)], gone: { a: 2 } },
    { it: 'broken old Pods go first, without waiting', newest: sized('b', 1, 0), older: [sized('a', 3, 2)], gone: {} },
    {
      it: 'broken ones of any older set',
      newest: sized('b', 1, 1),
      older: [sized('a', 2, 1), sized('c', 1, 1)],
      gone: { a: 1 },
    },
    {
      it: 'what is on its way out is not counted as available',
      newest: sized('b', 2, 2),
      older: [sized('a', 2, 3)],
      gone: { a: 1 },
    },
  ])('$it', ({ newest, older, gone }) => {
    expect(Object.fromEntries(olderSizes(3, { surge: 1, unavailable: 0 }, newest, older))).toEqual(gone);
  });

  test.each([
    {
      it: 'more is shared by size, the rest goes to the largest',
      replicas: 15,
      active: [sized('b', 6, 2, 13), sized('a', 7, 7, 13)],
      sizes: { a: 10, b: 8 },
    },
    { it: 'less likewise', replicas: 6, active: [sized('b', 8, 2, 18), sized('a', 10, 10, 18)], sizes: { a: 5, b: 4 } },
    { it: 'none is none', replicas: 0, active: [sized('b', 3, 2, 8), sized('a', 5, 5, 8)], sizes: { a: 0, b: 0 } },
  ])('while rolling out, $it', ({ replicas, active, sizes }) => {
    const result = proportionalSizes(replicas, { surge: 3, unavailable: 2 }, active);
    expect(Object.fromEntries(result)).toEqual(sizes);
  });
});

describe('a rollout, with controllers that see and write in any order, die between two writes, and Pods that are slow', () => {
  const template = (image: string) => ({
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image }] },
  });
  const budget = fc.oneof(
    fc.integer({ min: 0, max: 4 }),
    fc.integer({ min: 0, max: 100 }).map((share) => `${share}%`),
  );
  const cases = fc.record({
    replicas: fc.integer({ min: 1, max: 8 }),
    maxSurge: budget,
    maxUnavailable: budget,
    dice: fc.infiniteStream(fc.nat(1000)),
  });

  const podsOf = (model: Model, uid: string | undefined) =>
    model.all<Pod>(pods).filter((pod) => controllerOf(pod)?.uid === uid);
  const setsOf = (model: Model) => model.all<ReplicaSet>(replicaSets);

  function look(model: Model, who: string): readonly Write[] {
    if (who === 'web') {
      const object = model.get<Deployment>(deployments, 'web');
      if (object === undefined) return [];
      return deployment(
        object,
        { replicaSets: setsOf(model), pods: model.all<Pod>(pods), taken: new Set() },
        model.now,
        DEFAULT_PROFILE,
      ).writes;
    }
    const object = model.get<ReplicaSet>(replicaSets, who);
    return object === undefined
      ? []
      : replicaSet(object, { pods: podsOf(model, object.metadata.uid) }, model.now, DEFAULT_PROFILE).writes;
  }

  function makeReady(model: Model, pod: KubeObject): void {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: kubeTime(model.now) }];
    model.change(pods, pod.metadata.name ?? '', { status: { phase: 'Running', conditions } });
  }

  /** One random thing happens. */
  function happen(model: Model, roll: (sides: number) => number): void {
    const actors = ['web', ...setsOf(model).map((set) => set.metadata.name ?? '')];
    const sleeping = model.all<Pod>(pods).filter((pod) => !isReady(pod));
    const choice = roll(actors.length + (sleeping.length > 0 ? 1 : 0));
    const actor = actors[choice];
    if (actor === undefined) makeReady(model, sleeping[roll(sleeping.length)] as Pod);
    else {
      const writes = look(model, actor);
      // Crashes after some of the writes, or not at all.
      for (const write of writes.slice(0, roll(3) === 0 ? roll(writes.length + 1) : writes.length)) model.apply(write);
    }
    model.now += roll(400);
  }

  function finish(model: Model): void {
    for (let round = 0; round < 200; round++) {
      const before = JSON.stringify([setsOf(model), model.all(pods), model.get(deployments, 'web')]);
      for (const actor of ['web', ...setsOf(model).map((set) => set.metadata.name ?? '')])
        for (const write of look(model, actor)) model.apply(write);
      for (const pod of model.all<Pod>(pods)) if (!isReady(pod)) makeReady(model, pod);
      if (JSON.stringify([setsOf(model), model.all(pods), model.get(deployments, 'web')]) === before) return;
    }
    throw new Error('it does not end');
  }

  test('never has too many Pods, never too few available ones, and finishes', () => {
    fc.assert(
      fc.property(cases, ({ replicas, maxSurge, maxUnavailable, dice }) => {
        const roll = (sides: number) => dice.next().value % sides;
        const strategy: DeploymentSpec['strategy'] = {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge, maxUnavailable },
        };
        const model = new Model();
        const spec = {
          replicas,
          strategy,
          selector: { matchLabels: { app: 'web' } },
          template: template('web:1'),
          progressDeadlineSeconds: 600,
        };
        model.put(deployments, { metadata: { name: 'web' }, spec });
        finish(model);
        const { surge, unavailable } = budgetOf({ replicas, strategy });
        for (const image of ['web:2', 'web:3']) {
          model.change(deployments, 'web', { spec: { template: template(image) } });
          for (let step = 0; step < 60; step++) {
            happen(model, roll);
            const active = model.all<Pod>(pods).filter(isActive);
            expect(active.length).toBeLessThanOrEqual(replicas + surge);
            expect(active.filter(isReady).length).toBeGreaterThanOrEqual(replicas - unavailable);
          }
        }
        finish(model);
        expect(model.all<Pod>(pods).map((pod) => pod.spec?.containers[0]?.image)).toEqual(
          Array(replicas).fill('web:3'),
        );
        expect(model.get<Deployment>(deployments, 'web')?.status).toMatchObject({
          replicas,
          updatedReplicas: replicas,
          availableReplicas: replicas,
        });
        expect(look(model, 'web')).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  test('decides the same whatever order things are listed in', () => {
    fc.assert(
      fc.property(cases, ({ replicas, maxSurge, maxUnavailable, dice }) => {
        const roll = (sides: number) => dice.next().value % sides;
        const shuffled = <T>(items: readonly T[]) =>
          items
            .map((item) => ({ item, at: roll(1000) }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item);
        const model = new Model();
        const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
        model.put(deployments, {
          metadata: { name: 'web' },
          spec: { replicas, strategy, selector: { matchLabels: { app: 'web' } }, template: template('web:1') },
        });
        finish(model);
        model.change(deployments, 'web', { spec: { template: template('web:2') } });
        for (let step = 0; step < 15; step++) happen(model, roll);
        model.change(deployments, 'web', { spec: { replicas: replicas + roll(4) } });
        const object = model.get<Deployment>(deployments, 'web') as Deployment;
        const seen = { replicaSets: setsOf(model), pods: model.all<Pod>(pods), taken: new Set<string>() };
        const again = { ...seen, replicaSets: shuffled(seen.replicaSets), pods: shuffled(seen.pods) };
        const sorted = (writes: readonly Write[]) => writes.map((write) => JSON.stringify(write)).toSorted();
        expect(sorted(deployment(object, again, model.now, DEFAULT_PROFILE).writes)).toEqual(
          sorted(deployment(object, seen, model.now, DEFAULT_PROFILE).writes),
        );
        for (const set of setsOf(model)) {
          const mine = podsOf(model, set.metadata.uid);
          expect(replicaSet(set, { pods: shuffled(mine) }, model.now, DEFAULT_PROFILE)).toEqual(
            replicaSet(set, { pods: mine }, model.now, DEFAULT_PROFILE),
          );
        }
      }),
      { numRuns: runs(40) },
    );
  });
});
