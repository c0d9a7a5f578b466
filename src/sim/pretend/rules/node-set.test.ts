import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../test/properties.ts';
import type { Lease, Node, Pod, Service } from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { DEFAULT_PROFILE, profileOf, timingOf, versionOf } from '../profile.ts';
import type { Write } from '../rule.ts';
import { type NodeRelated, node, someNodes } from './node.ts';
import { matchesNode, repels } from './node-fit.ts';
import { pod } from './pod.ts';
import { needsOf, scheduler } from './scheduler.ts';
import { service } from './service.ts';

const at = (seconds: number) => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}Z`;
const time = (seconds: number) => Date.parse(at(seconds));
/** The writes without their reasons. */
const wire = (writes: readonly Write[]) =>
  writes.map((write) => {
    const { because: _because, resource, ...rest } = write;
    const name = 'of' in rest ? rest.of.metadata.name : rest.object.metadata.name;
    return {
      ...('of' in rest ? { do: rest.do, ...('merge' in rest ? { merge: rest.merge } : {}) } : rest),
      on: `${resource.plural}/${name}`,
    };
  });

const aNode = (name: string, more: { labels?: object; spec?: object; allocatable?: object } = {}): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, labels: { 'flotilla.dev/pretend': 'configured', ...more.labels } },
    spec: more.spec ?? {},
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...more.allocatable },
      addresses: [{ type: 'InternalIP', address: '198.18.0.1' }],
    },
  }) as Node;

const aPod = (more: { spec?: object; status?: object; metadata?: object } = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-web', creationTimestamp: at(0), ...more.metadata },
    spec: { nodeName: 'n1', restartPolicy: 'Always', containers: [{ name: 'main', image: 'web:1' }], ...more.spec },
    status: {
      phase: 'Pending',
      qosClass: 'BestEffort',
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: at(0) }],
      ...more.status,
    },
  }) as Pod;

describe('a bound Pod, from what is seen to what is written', () => {
  const related = { node: aNode('n1') };
  const condition = (type: string, status: string, seconds: number, more: object = {}) => ({
    type,
    status,
    lastProbeTime: null,
    lastTransitionTime: at(seconds),
    ...more,
  });
  const unready = { reason: 'ContainersNotReady', message: 'containers with unready status: [main]' };
  const running = {
    phase: 'Running',
    startTime: at(0),
    podIP: '10.244.1.1',
    conditions: [
      condition('PodScheduled', 'True', 0),
      condition('Ready', 'False', 0, unready),
      condition('ContainersReady', 'False', 0, unready),
    ],
    containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: { running: { startedAt: at(1) } } }],
  };

  test('just bound: its container is being made, and is done when the image is there', () => {
    const { writes, wakeAt } = pod(aPod(), related, time(0), DEFAULT_PROFILE);
    expect(wakeAt).toBe(time(1));
    expect(wire(writes)).toEqual([
      {
        do: 'patch',
        on: 'pods/web',
        merge: {
          status: {
            conditions: [
              condition('PodReadyToStartContainers', 'False', 0),
              condition('Initialized', 'True', 0),
              condition('Ready', 'False', 0, unready),
              condition('ContainersReady', 'False', 0, unready),
              { type: 'PodScheduled', status: 'True', lastTransitionTime: at(0) },
            ],
            hostIP: '198.18.0.1',
            hostIPs: [{ ip: '198.18.0.1' }],
            startTime: at(0),
            containerStatuses: [
              {
                name: 'main',
                image: 'web:1',
                imageID: '',
                ready: false,
                started: false,
                restartCount: 0,
                state: { waiting: { reason: 'ContainerCreating' } },
                lastState: {},
              },
            ],
          },
        },
      },
    ]);
  });

  test('running: ready when its time has come, with the moment of the change and no other', () => {
    const { writes, wakeAt } = pod(aPod({ status: running }), related, time(2), DEFAULT_PROFILE);
    expect(wakeAt).toBeUndefined();
    expect(writes).toHaveLength(1);
    expect(wire(writes)[0]).toMatchObject({
      merge: {
        status: {
          conditions: [
            condition('PodReadyToStartContainers', 'True', 2),
            condition('Initialized', 'True', 2),
            condition('Ready', 'True', 2),
            condition('ContainersReady', 'True', 2),
            condition('PodScheduled', 'True', 0),
          ],
          containerStatuses: [{ ready: true, started: true, state: { running: { startedAt: at(1) } } }],
        },
      },
    });
  });

  const ready = {
    ...running,
    conditions: [condition('Ready', 'True', 2), condition('ContainersReady', 'True', 2)],
    containerStatuses: [{ name: 'main', ready: true, restartCount: 0, state: { running: { startedAt: at(1) } } }],
  };
  const never = profileOf({ faults: [{ tag: '1', fault: 'NeverReady' }] });

  test.each([
    { it: 'running, its time not come: waits', given: aPod({ status: running }), seconds: 1, writes: 0, wake: 2 },
    { it: 'ready: nothing', given: aPod({ status: ready }), seconds: 30, writes: 0, wake: undefined },
    {
      it: 'finished: nothing',
      given: aPod({ status: { phase: 'Succeeded' } }),
      seconds: 30,
      writes: 0,
      wake: undefined,
    },
    {
      it: 'never ready by its profile: runs, and that is all',
      given: aPod({ status: running }),
      seconds: 40,
      writes: 0,
      wake: undefined,
      profile: never,
    },
    {
      it: 'a gate that somebody else has to open holds it',
      given: aPod({ status: ready, spec: { readinessGates: [{ conditionType: 'open' }] } }),
      seconds: 30,
      writes: 1,
      wake: undefined,
    },
    {
      it: 'asked to go: waits until it has stopped',
      given: aPod({ status: ready, metadata: { deletionTimestamp: at(40), deletionGracePeriodSeconds: 30 } }),
      seconds: 10,
      writes: 0,
      wake: 11,
    },
    {
      it: 'asked to go and stopped: gone',
      given: aPod({ status: ready, metadata: { deletionTimestamp: at(40), deletionGracePeriodSeconds: 30 } }),
      seconds: 11,
      writes: 1,
      wake: undefined,
    },
  ])('$it', ({ given, seconds, writes, wake, profile }) => {
    const outcome = pod(given, related, time(seconds), profile ?? DEFAULT_PROFILE);
    expect(outcome.writes).toHaveLength(writes);
    expect(outcome.wakeAt).toBe(wake === undefined ? undefined : time(wake));
  });

  test('whose node is gone goes, too', () => {
    expect(wire(pod(aPod({ status: ready }), { node: undefined }, time(3), DEFAULT_PROFILE).writes)).toEqual([
      { do: 'delete', on: 'pods/web' },
    ]);
  });

  test('of a Job runs its time and succeeds', () => {
    const given = aPod({ spec: { restartPolicy: 'Never' }, status: ready });
    expect(pod(given, related, time(3), DEFAULT_PROFILE)).toEqual({ writes: [], wakeAt: time(4) });
    expect(wire(pod(given, related, time(4), DEFAULT_PROFILE).writes)[0]).toMatchObject({
      merge: {
        status: {
          phase: 'Succeeded',
          containerStatuses: [
            { state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: at(1), finishedAt: at(4) } } },
          ],
        },
      },
    });
  });
});

describe('a profile', () => {
  test.each([
    ['web', 'web'],
    ['web:v2', 'v2'],
    ['registry.local:5000/web', 'web'],
    ['registry.local:5000/bad/web:v2', 'v2'],
    ['web@sha256:00', 'sha256:00'],
  ])('the version of %s is %s', (image, version) => {
    expect(versionOf(image)).toBe(version);
  });

  test('judges the tag, not the name: team bad-ideas may ship', () => {
    expect(
      timingOf(DEFAULT_PROFILE, 'a/b', { containers: [{ name: 'c', image: 'bad-ideas/web:1' }] }).fault,
    ).toBeUndefined();
    expect(timingOf(DEFAULT_PROFILE, 'a/b', { containers: [{ name: 'c', image: 'web:1-bad' }] }).fault).toBe(
      'PullFails',
    );
  });

  test('draws within its bounds, alike every time, and a share of Pods is about that share', () => {
    const profile = profileOf({
      pullMs: { fromMs: 100, toMs: 200 },
      faults: [{ tag: 'flaky', fault: 'Crashes', percent: 30 }],
    });
    const containers = [{ name: 'c', image: 'web:flaky' }];
    const drawn = Array.from({ length: 1000 }, (_, i) => timingOf(profile, `ns/pod-${i}`, { containers }));
    expect(drawn).toEqual(Array.from({ length: 1000 }, (_, i) => timingOf(profile, `ns/pod-${i}`, { containers })));
    expect(Math.min(...drawn.map(({ pullMs }) => pullMs))).toBeGreaterThanOrEqual(100);
    expect(Math.max(...drawn.map(({ pullMs }) => pullMs))).toBeLessThanOrEqual(200);
    const share = drawn.filter(({ fault }) => fault === 'Crashes').length / 10;
    expect(share).toBeGreaterThan(25);
    expect(share).toBeLessThan(35);
  });
});

describe('the scheduler', () => {
  const waiting = (name: string, spec: object = {}): Pod =>
    aPod({
      metadata: { name, uid: `uid-${name}` },
      spec: { nodeName: undefined, ...spec },
      status: { conditions: undefined },
    });
  const asks = (cpu: string) => ({ containers: [{ name: 'main', resources: { requests: { cpu } } }] });
  const bind = (writes: readonly Write[]) =>
    Object.fromEntries(
      wire(writes).flatMap((write) =>
        'merge' in write && 'spec' in (write.merge as object)
          ? [[write.on, (write.merge as { spec: { nodeName: string } }).spec.nodeName]]
          : [],
      ),
    );
  const nodes = [aNode('b'), aNode('a')];
  const run = (list: readonly Pod[], on: readonly Node[] = nodes, bound: readonly Pod[] = []) =>
    scheduler(list, { nodes: on, bound }, time(0), DEFAULT_PROFILE).writes;

  test.each([
    {
      it: 'equal nodes are filled in turn',
      list: [waiting('p1'), waiting('p2'), waiting('p3')],
      bound: { 'pods/p1': 'a', 'pods/p2': 'b', 'pods/p3': 'a' },
    },
    {
      it: 'what is asked for is counted',
      list: [waiting('p1', asks('3')), waiting('p2', asks('3')), waiting('p3', asks('2'))],
      bound: { 'pods/p1': 'a', 'pods/p2': 'b' },
    },
    { it: 'a node selector is heeded', list: [waiting('p1', { nodeSelector: { disk: 'ssd' } })], bound: {} },
    { it: 'gated Pods wait', list: [waiting('p1', { schedulingGates: [{ name: 'x' }] })], bound: {} },
    { it: "another scheduler's Pods are left to it", list: [waiting('p1', { schedulerName: 'mine' })], bound: {} },
  ])('$it', ({ list, bound }) => {
    expect(bind(run(list))).toEqual(bound);
  });

  test.each([
    {
      it: 'cordoned',
      node: aNode('a', { spec: { unschedulable: true } }),
      message: '0/1 nodes are available: 1 node(s) were unschedulable.',
    },
    {
      it: 'tainted',
      node: aNode('a', { spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } }),
      message: '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
    },
    {
      it: 'full',
      node: aNode('a', { allocatable: { pods: '0' } }),
      message: '0/1 nodes are available: 1 Too many pods.',
    },
  ])('a $it node is not taken, and the Pod says why, once', ({ node: only, message }) => {
    const [write] = run([waiting('p1')], [only]);
    const merge = write?.do === 'patch' ? write.merge : {};
    const conditions = (merge as { status: { conditions: object[] } }).status.conditions;
    expect(conditions).toEqual([
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: at(0),
        reason: 'Unschedulable',
        message,
      },
    ]);
    const told = { ...waiting('p1'), status: { phase: 'Pending', conditions } } as Pod;
    expect(run([told], [only])).toEqual([]);
  });

  test('an init container counts if it asks for more than all others, a sidecar in addition', () => {
    const container = (cpu: string, more = {}) => ({ name: 'x', resources: { requests: { cpu } }, ...more });
    const needs = (spec: object) => Number(needsOf(waiting('p', spec)).cpu / 1_000_000n);
    expect(needs({ containers: [container('1'), container('500m')], initContainers: [container('1')] })).toBe(1500);
    expect(needs({ containers: [container('1')], initContainers: [container('2')] })).toBe(2000);
    expect(needs({ containers: [container('1')], initContainers: [container('2', { restartPolicy: 'Always' })] })).toBe(
      3000,
    );
  });

  test('never promises more than a node has, and decides the same in any order', () => {
    const pods = fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 12 });
    fc.assert(
      fc.property(
        pods,
        pods,
        fc.array(fc.integer({ min: 500, max: 6000 }), { minLength: 1, maxLength: 4 }),
        (asked, running, sizes) => {
          const places = sizes.map((cpu, index) => aNode(`n${index}`, { allocatable: { cpu: `${cpu}m` } }));
          const list = asked.map((cpu, index) => waiting(`p${index}`, asks(`${cpu}m`)));
          const bound = running.map((cpu, index) =>
            aPod({
              metadata: { name: `r${index}` },
              spec: { ...asks(`${cpu}m`), nodeName: `n${index % sizes.length}` },
            }),
          );
          const chosen = bind(run(list, places, bound));
          expect(bind(run(list.toReversed(), places.toReversed(), bound.toReversed()))).toEqual(chosen);
          for (const [index, size] of sizes.entries()) {
            const before = running
              .filter((_, each) => each % sizes.length === index)
              .reduce((sum, cpu) => sum + cpu, 0);
            const added = asked
              .filter((_, each) => chosen[`pods/p${each}`] === `n${index}`)
              .reduce((sum, cpu) => sum + cpu, 0);
            if (added > 0) expect(before + added).toBeLessThanOrEqual(size);
          }
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe('whether a Pod may be on a node', () => {
  const labelled = aNode('n', { labels: { zone: 'a', size: '5' } });
  const wants = (key: string, operator: string, values?: readonly string[]) => ({
    containers: [],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values ? { values } : {}) }] }],
        },
      },
    },
  });
  test.each([
    ['zone', 'In', ['a', 'b'], true],
    ['zone', 'NotIn', ['a'], false],
    ['other', 'NotIn', ['a'], true],
    ['zone', 'Exists', undefined, true],
    ['constructor', 'Exists', undefined, false],
    ['other', 'DoesNotExist', undefined, true],
    ['size', 'Gt', ['4'], true],
    ['size', 'Lt', ['4'], false],
    ['zone', 'Odd', ['a'], false],
  ] as const)('%s %s %j: %s', (key, operator, values, expected) => {
    expect(matchesNode(wants(key, operator, values), labelled)).toBe(expected);
  });

  const tainted = aNode('n', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } });
  test.each([
    ['nothing', [], true],
    ['everything', [{ operator: 'Exists' }], false],
    ['its key and value', [{ key: 'k', value: 'v' }], false],
    ['another value', [{ key: 'k', value: 'w' }], true],
    ['another effect', [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }], true],
  ] as const)('a taint keeps away who tolerates %s: %j', (_it, tolerations, expected) => {
    expect(repels(tainted, tolerations, ['NoSchedule'])).toBe(expected);
  });
});

describe('a Node, from what is seen to what is written', () => {
  const [shape] = someNodes('test', 1);
  const created = node(shape, {}, time(0), DEFAULT_PROFILE).writes[0];
  const object = (created?.do === 'create' ? created.object : undefined) as KubeObject as Node;
  const there: Node = { ...object, metadata: { ...object.metadata, uid: 'u' } };
  const lease = {
    apiVersion: '',
    kind: 'Lease',
    metadata: { name: 'test-node-1' },
    spec: { renewTime: '2026-01-01T00:00:00.000000Z' },
  } as Lease;

  test.each<{
    it: string;
    related: NodeRelated;
    seconds: number;
    writes: readonly string[];
    wake: number | undefined;
    shape?: typeof shape;
  }>([
    { it: 'is made', related: {}, seconds: 0, writes: ['create nodes'], wake: undefined, shape },
    { it: 'gets a Lease', related: { node: there }, seconds: 0, writes: ['create leases'], wake: 10, shape },
    {
      it: 'loses the mark that admission put on it',
      related: {
        node: { ...there, spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
        lease,
      },
      seconds: 1,
      writes: ['patch nodes'],
      wake: 10,
      shape,
    },
    {
      it: 'keeps a taint of somebody else',
      related: { node: { ...there, spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } }, lease },
      seconds: 1,
      writes: [],
      wake: 10,
      shape,
    },
    {
      it: 'is left alone while its Lease is fresh',
      related: { node: there, lease },
      seconds: 9,
      writes: [],
      wake: 10,
      shape,
    },
    { it: 'renews its Lease', related: { node: there, lease }, seconds: 10, writes: ['patch leases'], wake: 20, shape },
    {
      it: 'that is not ours to keep is left alone',
      related: { node: { ...there, metadata: { name: 'x' } } },
      seconds: 50,
      writes: [],
      wake: undefined,
    },
    {
      it: 'that we made and nobody wants any more goes',
      related: { node: there, lease },
      seconds: 5,
      writes: ['delete nodes'],
      wake: undefined,
    },
  ])('$it', ({ related, seconds, writes, wake, shape: wanted }) => {
    const outcome = node(wanted, related, time(seconds), DEFAULT_PROFILE);
    expect(outcome.writes.map((write) => `${write.do} ${write.resource.plural}`)).toEqual(writes);
    expect(outcome.wakeAt).toBe(wake === undefined ? undefined : time(wake));
  });
});

describe('a Service', () => {
  const aService = (spec: object, status: object = { loadBalancer: {} }) =>
    ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's', uid: 'u' }, spec, status }) as Service;
  const address = '198.19.';

  test.each([
    { it: 'a load balancer without address gets one', given: aService({ type: 'LoadBalancer' }), writes: 1 },
    {
      it: "one of somebody's own class does not",
      given: aService({ type: 'LoadBalancer', loadBalancerClass: 'mine' }),
      writes: 0,
    },
    {
      it: 'one that has an address keeps it',
      given: aService({ type: 'LoadBalancer' }, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }),
      writes: 0,
    },
    {
      it: 'an address that is not ours is not taken away',
      given: aService({ type: 'ClusterIP' }, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }),
      writes: 0,
    },
  ])('$it', ({ given, writes }) => {
    const outcome = service(given, undefined, 0, DEFAULT_PROFILE);
    expect(outcome.writes).toHaveLength(writes);
    if (writes > 0) expect(JSON.stringify(outcome.writes)).toContain(address);
  });
});
