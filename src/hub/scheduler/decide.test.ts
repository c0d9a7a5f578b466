import { describe, expect, test } from 'vitest';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { dnsLabelErrors } from '../../base/names.ts';
import { ORPHAN_GRACE_MS } from '../bindings/orphan-grace.ts';
import { families } from '../families.ts';
import { newBindingName } from './names.ts';
import { aMember, Hub, type HubSetup, inWords, MINUTE, NOW, specOf } from './scheduler.testing.ts';

const message = (hub: Hub) => conditionOf(hub.status?.conditions, 'Scheduled')?.message;
const stepsOf = (hub: Hub) => hub.decide().steps.map((step) => step.map(inWords));

describe.each(families.map((family) => ({ family, kind: family.placement.kind })))('$kind', ({ family }) => {
  const snapshot = family.policySnapshot.kind;
  const binding = family.binding.kind;

  test('a new placement: finalizer, bindings side by side, status', () => {
    const hub = new Hub({ family, members: [aMember('a'), aMember('b')] });
    hub.placement = { ...(hub.placement as KubeObject), metadata: { ...hub.placement?.metadata, finalizers: ['x'] } };
    expect(stepsOf(hub)).toEqual([
      [`patch ${family.placement.kind}`],
      ['create a', 'create b'],
      [`patch ${snapshot} status`],
    ]);
    hub.settle();
    expect(hub.placement?.metadata.finalizers).toEqual(['x', finalizers.schedulerCleanup]);
  });

  test('a binding as it is created', () => {
    const hub = new Hub({ family, members: [aMember('a')] });
    hub.settle();
    const [made] = hub.bindings;
    expect(made?.metadata).toMatchObject({
      labels: { [labels.parentPlacement]: 'web' },
      finalizers: [finalizers.schedulerBindingCleanup, finalizers.workCleanup],
    });
    expect(made?.metadata.namespace).toBe(family.placement.namespaced ? 'ns' : undefined);
    expect(made?.metadata.name).toMatch(/^web-a-[0-9a-f]{8}$/);
    expect(made?.metadata).not.toHaveProperty('ownerReferences');
    expect(made?.spec).toEqual({
      state: 'Scheduled',
      targetCluster: 'a',
      schedulingPolicySnapshotName: 'web-0',
      resourceSnapshotName: '',
      clusterDecision: {
        clusterName: 'a',
        selected: true,
        clusterScore: { affinityScore: 0, priorityScore: 0 },
        reason: 'cluster "a" is picked by the scheduling policy (affinity score: 0, topology spread score: 0)',
      },
    });
  });

  test('a new policy: what is new, what is taken over, then what is given up', () => {
    const hub = new Hub({
      family,
      snapshot: 1,
      policy: { placementType: 'PickFixed', clusterNames: ['a', 'b'] },
      members: [aMember('a'), aMember('b'), aMember('c')],
      bindings: { a: {}, c: {} },
    });
    expect(stepsOf(hub)).toEqual([
      [`patch ${snapshot}`],
      ['create b'],
      [`patch ${binding}`],
      [`patch ${binding}`],
      [`patch ${snapshot} status`],
    ]);
  });

  test('a deleted placement: bindings are deleted, let go, and then it is', () => {
    const hub = new Hub({ family, members: [aMember('a'), aMember('b')], bindings: { a: { state: 'Bound' }, b: {} } });
    hub.placement = {
      ...(hub.placement as KubeObject),
      metadata: { ...hub.placement?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    expect(hub.pass()).toEqual([`delete ${binding}`, `delete ${binding}`]);
    expect(hub.pass()).toEqual([`patch ${binding}`, `patch ${binding}`, `patch ${family.placement.kind}`]);
    expect(hub.placement?.metadata.finalizers).toEqual([finalizers.placementCleanup]);
    expect(hub.bindings).toEqual([]);
    expect(hub.pass()).toEqual([]);
  });

  test('a placement that is new: what was picked for one of the same name is picked anew, before anything else', () => {
    const hub = new Hub({
      family,
      policy: { placementType: 'PickFixed', clusterNames: ['a', 'b'] },
      members: [aMember('a'), aMember('b'), aMember('c')],
      bindings: { a: { state: 'Bound' }, c: { state: 'Bound' } },
    });
    hub.placement = { ...(hub.placement as KubeObject), metadata: { ...hub.placement?.metadata, finalizers: [] } };
    expect(stepsOf(hub)).toEqual([
      [`patch ${binding}`],
      [`patch ${snapshot}`],
      [`patch ${binding}`],
      [`patch ${family.placement.kind}`],
      ['create b'],
      [`patch ${snapshot} status`],
    ]);
    hub.settle();
    expect(hub.words).toEqual(['a Bound web-0', 'b Scheduled web-0', 'c Unscheduled (Bound) web-0']);
  });

  test('a placement that has gone: what is being deleted is let go, what stands goes when nobody has brought the placement back', () => {
    const hub = new Hub({ family, bindings: { c1: { deleting: true }, c2: {}, c3: {}, c4: {} } });
    const creationTimestamp = kubeTime(hub.now);
    const age = (each: KubeObject) => ({ ...each, metadata: { ...each.metadata, creationTimestamp } });
    const byHand = (each: KubeObject) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } });
    const [c1, c2, c3, c4] = hub.bindings as [KubeObject, KubeObject, KubeObject, KubeObject];
    hub.bindings = [c1, age(c2), age(c3), byHand(c4)];
    hub.placement = undefined;
    hub.settle();
    expect(hub.words).toEqual(['c2 Scheduled web-0', 'c3 Scheduled web-0', 'c4 Scheduled web-0']);
    expect(hub.decide().wakeAt).toBe(Date.parse(creationTimestamp) + ORPHAN_GRACE_MS);
    hub.now += ORPHAN_GRACE_MS + 1000;
    hub.settle();
    expect(hub.words).toEqual(['c4 Scheduled web-0']);
  });
});

describe('nothing is scheduled', () => {
  test('of a placement whose spec cannot work', () => {
    const hub = new Hub({
      specProblem: { message: 'spec.x needs y', next: 'set y' },
      bindings: { c1: { deleting: true } },
    });
    expect(hub.pass()).toEqual(['patch ClusterResourceBinding']);
    expect(hub.pass()).toEqual([]);
    expect(hub.decide().because).toContain('spec.x needs y');
    expect(hub.bindings).toEqual([]);
  });

  test.each([
    { it: 'no number of clusters', annotation: annotations.numberOfClusters, value: 'many' },
    { it: 'a negative number of clusters', annotation: annotations.numberOfClusters, value: '-1' },
    { it: 'no generation', annotation: annotations.placementGeneration, value: '' },
  ])('with $it, and the condition says why', ({ annotation, value }) => {
    const hub = new Hub({ policy: { placementType: 'PickN' }, numberOfClusters: 1 });
    hub.annotate(annotation, value);
    hub.settle();
    expect(hub.bindings).toEqual([]);
    expect(hub.condition).toContain('False/SchedulingPolicyUnfulfilled');
    expect(message(hub)).toContain(annotation);
  });
});

test.each(['Bound', 'Scheduled'] as const)('a twin that was never rolled out is given up: beside %s', (state) => {
  const hub = new Hub({ policy: { placementType: 'PickN' }, numberOfClusters: 1, bindings: { c1: { state } } });
  const [first] = hub.bindings;
  const spec = { ...specOf(first as KubeObject), state: 'Scheduled', resourceSnapshotName: '' };
  hub.bindings.push({ ...(first as KubeObject), metadata: { ...first?.metadata, name: 'a-twin' }, spec });
  hub.settle();
  expect(hub.words).toEqual([`c1 ${state} web-0`, 'c1 Unscheduled (Scheduled) web-0']);
  expect(hub.condition).toBe('True/SchedulingPolicyFulfilled 1');
});

describe('of two bindings that were rolled out to one cluster', () => {
  const doubled = (first: object, second: object) => {
    const hub = new Hub({
      policy: { placementType: 'PickN' },
      numberOfClusters: 1,
      bindings: { c1: { state: 'Bound' } },
    });
    const known = hub.bindings[0] as KubeObject;
    const made = (name: string, more: object): KubeObject => ({
      ...known,
      metadata: { ...known.metadata, name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { ...specOf(known), ...more },
    });
    hub.bindings = [made('a', first), made('b', second)];
    return hub;
  };
  const named = (hub: Hub) => hub.bindings.map(({ metadata }) => metadata.name);

  test('one goes, marked before it is deleted, when it is certain that the other one stands', () => {
    const hub = doubled({ resourceSnapshotName: 'web-1-snapshot' }, { resourceSnapshotName: 'web-1-snapshot' });
    expect(hub.pass().slice(0, 2)).toEqual(['patch ClusterResourceBinding', 'patch ClusterResourceBinding']);
    expect(hub.bindings[1]?.metadata.annotations).toEqual({ [annotations.twinOf]: 'a' });
    expect(hub.pass().slice(0, 2)).toEqual(['patch ClusterResourceBinding', 'delete ClusterResourceBinding']);
    hub.settle();
    expect(named(hub)).toEqual(['a']);
    expect(hub.condition).toContain('True/SchedulingPolicyFulfilled');
  });

  test('the one with the newer revision stays', () => {
    const hub = doubled({ resourceSnapshotName: 'web-9-snapshot' }, { resourceSnapshotName: 'web-10-snapshot' });
    hub.settle();
    expect(named(hub)).toEqual(['b']);
  });

  test('all decide alike, in whatever order they see them', () => {
    const hub = doubled({ state: 'Bound' }, { state: 'Bound' });
    const before = hub.bindings;
    hub.bindings = before.toReversed();
    hub.settle();
    expect(named(hub)).toEqual(['a']);
  });
});

describe('a step that was refused', () => {
  const refused = { reason: 'Forbidden', message: 'bindings is forbidden' };

  test('is told once, tried again, and forgotten when it goes through', () => {
    const hub = new Hub();
    hub.failure = refused;
    expect(hub.pass()).toEqual(['patch ClusterSchedulingPolicySnapshot status']);
    expect(message(hub)).toBe('cannot schedule: bindings is forbidden');
    expect(hub.decide().steps[1]).toHaveLength(7);
    hub.failure = undefined;
    hub.settle();
    expect(hub.condition).toBe('True/SchedulingPolicyFulfilled 7');
  });

  test.each(['Conflict', 'ServiceUnavailable', 'other'])('is not told when it passes by itself: %s', (reason) => {
    const hub = new Hub();
    hub.failure = { reason, message: 'again' };
    hub.settle();
    expect(hub.condition).toBe('True/SchedulingPolicyFulfilled 7');
  });
});

describe('a binding that was given up', () => {
  test('goes back to what it was, also when nobody noted it down', () => {
    const hub = new Hub({
      bindings: { c1: { state: 'Unscheduled' }, c2: { state: 'Unscheduled', previous: 'Bound' } },
    });
    const [first] = hub.bindings;
    hub.bindings[0] = {
      ...(first as KubeObject),
      spec: { ...specOf(first as KubeObject), resourceSnapshotName: 'web-0-snapshot' },
    };
    hub.settle();
    expect(hub.words.slice(0, 2)).toEqual(['c1 Bound web-0', 'c2 Bound web-0']);
  });

  test('keeps annotations of others', () => {
    const hub = new Hub({ policy: { placementType: 'PickN' }, numberOfClusters: 0, bindings: { c1: {} } });
    const [first] = hub.bindings;
    hub.bindings = [{ ...(first as KubeObject), metadata: { ...first?.metadata, annotations: { mine: 'yes' } } }];
    hub.settle();
    expect(hub.bindings[0]?.metadata.annotations).toEqual({
      mine: 'yes',
      [annotations.previousBindingState]: 'Scheduled',
    });
  });
});

describe('the name of a new binding', () => {
  const placement = (name: string) =>
    ({ metadata: { name, uid: 'uid-web' } }) as Parameters<typeof newBindingName>[0]['placement'];
  const aPredecessor = (name: string, uid: string, creationTimestamp: string) =>
    ({ metadata: { name, uid, creationTimestamp } }) as Parameters<typeof newBindingName>[0]['deleting'][number];
  const nameFor = (more: Partial<Parameters<typeof newBindingName>[0]> = {}) =>
    newBindingName({ placement: placement('web'), cluster: 'east', deleting: [], isUsed: () => false, ...more });

  test('is the same every time, and another one for a successor', () => {
    expect(nameFor()).toBe(nameFor());
    const successor = nameFor({ deleting: [aPredecessor(nameFor(), 'u1', '2026-01-01T00:00:00Z')] });
    expect(successor).not.toBe(nameFor());
  });

  test('is free although two predecessors were created in the same second', () => {
    const at = '2026-01-01T00:00:00Z';
    for (const [a, b] of [
      ['u1', 'u2'],
      ['u2', 'u1'],
    ] as const) {
      const first = aPredecessor(nameFor(), a, at);
      const second = aPredecessor(nameFor({ deleting: [first] }), b, at);
      const used = new Set([first.metadata.name, second.metadata.name]);
      const third = nameFor({ deleting: [first, second], isUsed: (name) => used.has(name) });
      expect(used.has(third)).toBe(false);
    }
  });

  test('is a label, whatever the placement is called', () => {
    for (const name of ['a.b.c', `${'x'.repeat(25)}.y`, 'x'.repeat(63), 'web']) {
      const made = nameFor({ placement: placement(name), cluster: `${'m'.repeat(27)}-east` });
      expect(dnsLabelErrors(made)).toEqual([]);
      expect(made.length).toBeLessThanOrEqual(63);
    }
  });
});

test('a run looks at the facts of each member once, also when a spread takes a hundred one by one', () => {
  let looks = 0;
  const members = Array.from({ length: 1000 }, (_, index) => {
    const member = aMember(`m-${String(index).padStart(4, '0')}`, { labels: { region: `r${index % 10}` } });
    return {
      ...member,
      get spec() {
        looks++;
        return member.spec;
      },
    };
  });
  const hub = new Hub({
    members,
    policy: {
      placementType: 'PickN',
      topologySpreadConstraints: [{ topologyKey: 'region', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
    },
    numberOfClusters: 100,
  });
  looks = 0;
  expect(hub.decide().steps[1]).toHaveLength(100);
  expect(looks).toBeLessThanOrEqual(2000); // one read per member for health and for taints
});

describe('a placement that a run has found in order, and where nothing has happened since but its generation', () => {
  const generation = annotations.placementGeneration;
  const settledHub = (policy: HubSetup['policy'], numberOfClusters?: number) => {
    const members = [aMember('a'), aMember('b'), aMember('c')];
    const hub = new Hub({ members, ...(policy && { policy }), ...(numberOfClusters && { numberOfClusters }) });
    hub.settle();
    hub.isSettled = true;
    return hub;
  };

  test.each<[string, HubSetup['policy'], number | undefined]>([
    ['PickAll', { placementType: 'PickAll' }, undefined],
    ['no policy', undefined, undefined],
    ['PickN', { placementType: 'PickN' }, 2],
    ['PickFixed', { placementType: 'PickFixed', clusterNames: ['a', 'c'] }, undefined],
  ])('keeps its decisions, whatever a run would make of the members now: %s', (_name, policy, n) => {
    const hub = settledHub(policy, n);
    const { targetClusters, conditions } = hub.status;
    const { words } = hub;
    hub.members = [
      aMember('a', { taints: ['x'] }),
      aMember('b', { heartbeat: undefined }),
      aMember('c', { leaving: true }),
    ];
    expect(hub.pass()).toEqual([]);
    hub.annotate(generation, '7');
    expect(hub.pass()).toEqual(['patch ClusterSchedulingPolicySnapshot status']);
    expect(hub.status).toEqual({ observedCRPGeneration: 7, targetClusters, conditions });
    expect(hub.words).toEqual(words);
    expect(hub.pass()).toEqual([]);
  });

  test.each<[string, HubSetup['policy'], number | undefined]>([
    ['PickAll', { placementType: 'PickAll' }, undefined],
    ['PickN', { placementType: 'PickN' }, 2],
    ['PickN that finds too few', { placementType: 'PickN' }, 5],
    ['PickFixed', { placementType: 'PickFixed', clusterNames: ['a', 'c'] }, undefined],
  ])('gives a leaving member up once it counts as gone, and wakes for that: %s', (_name, policy, n) => {
    const hub = settledHub(policy, n);
    hub.members = [aMember('a'), aMember('b'), aMember('c', { leaving: true })];
    hub.leaving = new Map([['c', NOW + MINUTE]]);
    expect(hub.decide()).toMatchObject({ steps: [], wakeAt: NOW + MINUTE });
    hub.now = NOW + MINUTE;
    hub.settle();
    const live = hub.bindings.map(specOf).filter(({ state }) => state !== 'Unscheduled');
    expect(live.map(({ targetCluster }) => targetCluster)).not.toContain('c');
    if (n === 2) expect(live).toHaveLength(2);
    expect(hub.decide()).not.toHaveProperty('wakeAt');
  });

  const change = (hub: Hub, metadata: object) => {
    hub.placement = { ...(hub.placement as KubeObject), metadata: { ...hub.placement?.metadata, ...metadata } };
  };
  const bindingOf = (hub: Hub, cluster: string, spec: object) => {
    hub.bindings = hub.bindings.map((each) =>
      specOf(each).targetCluster === cluster ? { ...each, spec: { ...specOf(each), ...spec } as never } : each,
    );
  };
  const twinOf = (hub: Hub, cluster: string) => {
    hub.bindings = hub.bindings
      .filter((each) => specOf(each).targetCluster === cluster)
      .flatMap((each) => [each, { ...each, metadata: { ...each.metadata, name: 'twin', uid: 'twin' } }]);
  };
  const status = (hub: Hub, more: object) => {
    hub.snapshot = { ...hub.snapshot, status: { ...hub.status, ...more } as never };
  };
  const scheduled = (hub: Hub, more: object) =>
    status(hub, { conditions: (hub.status.conditions ?? []).map((each) => ({ ...each, ...more })) });
  test.each<[string, (hub: Hub) => void]>([
    ['something has happened', (hub) => void Object.assign(hub, { isSettled: false })],
    ['a binding is missing', (hub) => void hub.bindings.pop()],
    ['a binding is being deleted', (hub) => hub.delete('c')],
    ['a binding was given up', (hub) => bindingOf(hub, 'c', { state: 'Unscheduled' })],
    ['a binding is of an earlier policy', (hub) => bindingOf(hub, 'c', { schedulingPolicySnapshotName: 'web-9' })],
    ['a binding is of a cluster that was not picked', (hub) => bindingOf(hub, 'c', { targetCluster: 'a' })],
    ['two bindings are of one cluster', (hub) => twinOf(hub, 'c')],
    ['another number is wanted', (hub) => hub.annotate(annotations.numberOfClusters, '3')],
    ['the policy is not fulfilled', (hub) => scheduled(hub, { status: 'False' })],
    ['the condition is of an earlier policy', (hub) => scheduled(hub, { observedGeneration: 0 })],
    ['nothing was said yet', (hub) => status(hub, { conditions: [] })],
    ['the decisions were edited', (hub) => status(hub, { targetClusters: [] })],
    ['it is not held yet', (hub) => change(hub, { finalizers: [] })],
    ['a cluster has gone', (hub) => void Object.assign(hub, { members: hub.members.slice(0, 2) })],
  ])('unless %s: then there is a run', (_name, happens) => {
    const hub = settledHub({ placementType: 'PickN' }, 2);
    expect(hub.live).toEqual(['b', 'c']);
    hub.annotate(generation, '7');
    expect(hub.decide().because).toContain('only the generation');
    happens(hub);
    expect(hub.decide().because).toMatch(/of \d clusters/);
  });
});
