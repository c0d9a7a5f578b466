import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MemberStatus } from '../../api/member-status.ts';
import { memberNamespaces, nodes } from '../sources.ts';
import { hasOtherNamespaces, MAX_NAMESPACES, namespacesOf, usageOf } from './facts.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const Gi = 2 ** 30;
const aNode = (cpu: number, memory: number) => ({
  metadata: {},
  capacity: { cpu: cpu * 1e9, memory: memory * Gi },
  allocatable: { cpu: (cpu - 1) * 1e9, memory: memory * Gi },
});
const aPod = (cpu: number, memory = 0) => ({ metadata: {}, requests: { cpu: cpu * 1e9, memory: memory * Gi } });
const aNamespace = (name: string, placedBy = '', isTerminating = false) => ({
  metadata: { name },
  placedBy,
  isTerminating,
});

describe('a member tells its size', () => {
  test('as the sum of its nodes, and what its Pods leave free', () => {
    const pods = [...Array.from({ length: 150 }, () => aPod(0.02)), aPod(1, 4)];
    expect(usageOf({ nodes: [aNode(4, 16), aNode(8, 32)], pods }, undefined, NOW)).toEqual({
      properties: { 'kubernetes-fleet.io/node-count': { value: '2', observationTime: '2026-01-01T00:00:00Z' } },
      resourceUsage: {
        capacity: { cpu: '12', memory: '48Gi' },
        allocatable: { cpu: '10', memory: '48Gi' },
        available: { cpu: '6', memory: '44Gi' },
        observationTime: '2026-01-01T00:00:00Z',
      },
    });
  });

  test('as nothing when it has no nodes', () => {
    const { resourceUsage } = usageOf({ nodes: [], pods: [aPod(1)] }, undefined, NOW);
    expect(resourceUsage?.available).toEqual({ cpu: '0', memory: '0' });
  });

  test.each([{ nodes: [] }, { pods: [] }, {}])('as before while it does not know it: %j', (facts) => {
    const before: MemberStatus = {
      properties: { x: { value: '1', observationTime: 't' } },
      resourceUsage: { capacity: { cpu: '1' } },
    };
    expect(usageOf(facts, before, NOW)).toEqual(before);
    expect(usageOf(facts, undefined, NOW)).toEqual({});
  });

  test('by what a node says, and a node that says nothing has nothing', () => {
    const project = (status: unknown) =>
      nodes.project?.({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u' }, status });
    expect(project({ capacity: { cpu: '4', memory: '1Ki' }, allocatable: { cpu: '3900m', memory: '1000' } })).toEqual({
      metadata: { name: 'n', uid: 'u' },
      capacity: { cpu: 4e9, memory: 1024 },
      allocatable: { cpu: 3.9e9, memory: 1000 },
    });
    expect(project(undefined)).toMatchObject({ capacity: { cpu: 0, memory: 0 } });
  });
});

describe('a member tells its namespaces', () => {
  test('with the Work that placed each, and without those that are going', () => {
    const namespaces = [aNamespace('shop', 'web-work'), aNamespace('default'), aNamespace('old', 'x', true)];
    expect(namespacesOf({ namespaces }, undefined)).toEqual({
      namespaces: { default: '', shop: 'web-work' },
      condition: { type: 'NamespaceCollectionSucceeded', status: 'True', reason: 'Succeeded', message: '' },
    });
  });

  test('far more than two hundred of them, and says when there are too many', () => {
    const all = Array.from({ length: MAX_NAMESPACES }, (_, i) => aNamespace(`n${i}`));
    expect(MAX_NAMESPACES).toBeGreaterThan(1000);
    expect(namespacesOf({ namespaces: all }, undefined).condition).toMatchObject({ status: 'True' });
    const more = namespacesOf({ namespaces: [...all, aNamespace('zzz', 'web-work')] }, undefined);
    expect(more.condition).toMatchObject({ status: 'False', reason: 'Degraded' });
    expect(Object.keys(more.namespaces ?? {})).toHaveLength(MAX_NAMESPACES);
    expect(more.namespaces).toHaveProperty('zzz', 'web-work');
  });

  test('or not at all, and then nothing old stays', () => {
    expect(namespacesOf({ namespaces: null }, { namespaces: { a: '' } })).toEqual({});
  });

  test('as before while it does not know them', () => {
    const condition = {
      type: 'NamespaceCollectionSucceeded',
      status: 'True' as const,
      reason: 'Succeeded',
      message: '',
      lastTransitionTime: 't',
    };
    expect(namespacesOf({}, { namespaces: { a: '' }, conditions: [condition] })).toEqual({
      namespaces: { a: '' },
      condition,
    });
  });

  test('the same in whatever order they come', () => {
    const one = fc.record({ name: fc.stringMatching(/^[a-z]{1,3}$/), by: fc.constantFrom('', 'w') });
    fc.assert(
      fc.property(fc.uniqueArray(one, { selector: ({ name }) => name }), (all) => {
        const namespaces = all.map(({ name, by }) => aNamespace(name, by));
        const forth = namespacesOf({ namespaces }, undefined);
        const back = namespacesOf({ namespaces: namespaces.toReversed() }, undefined);
        expect(JSON.stringify(back)).toBe(JSON.stringify(forth));
      }),
    );
  });

  test.each([
    {
      it: 'an AppliedWork',
      ref: { apiVersion: 'placement.kubernetes-fleet.io/v1beta1', kind: 'AppliedWork' },
      by: 'w',
    },
    { it: 'another kind', ref: { apiVersion: 'placement.kubernetes-fleet.io/v1beta1', kind: 'Work' }, by: '' },
    { it: 'the AppliedWork of another group', ref: { apiVersion: 'x.io/v1', kind: 'AppliedWork' }, by: '' },
  ])('and knows by its owner who placed one: $it', ({ ref, by }) => {
    const metadata = { name: 'a', ownerReferences: [{ ...ref, name: 'w', uid: 'u' }] };
    expect(memberNamespaces.project?.({ apiVersion: 'v1', kind: 'Namespace', metadata })).toMatchObject({
      placedBy: by,
    });
  });
});

test.each<[string, MemberStatus['namespaces'], Parameters<typeof hasOtherNamespaces>[0]['namespaces'], boolean]>([
  ['the same in another order', { a: '', b: 'w' }, [aNamespace('b', 'w'), aNamespace('a')], false],
  ['one more', { a: '' }, [aNamespace('a'), aNamespace('b')], true],
  ['one less', { a: '', b: '' }, [aNamespace('a')], true],
  ['one that is going', { a: '' }, [aNamespace('a'), aNamespace('b', '', true)], false],
  ['placed by somebody else', { a: '' }, [aNamespace('a', 'w')], true],
  ['none told yet', undefined, [aNamespace('a')], true],
  ['none told and none there', undefined, [], false],
  ['not to be told', { a: '' }, null, false],
  ['not known yet', { a: '' }, undefined, false],
  ['a name that means something else in JavaScript', { a: '' }, [aNamespace('constructor'), aNamespace('a')], true],
])('whether there are other namespaces than told: %s', (_name, told, namespaces, is) => {
  const facts = namespaces === undefined ? {} : { namespaces };
  expect(hasOtherNamespaces(facts, told === undefined ? {} : { namespaces: told })).toBe(is);
});
