import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Draft, PodSpec } from '../api/builtin/shapes.ts';
import { amountsOf, formatAmounts, minus, podRequests, sum } from './amounts.ts';

const wants = (cpu: string, memory = '0', more: object = {}) => ({ resources: { requests: { cpu, memory } }, ...more });
const sidecar = (cpu: string, memory = '0') => wants(cpu, memory, { restartPolicy: 'Always' });

describe('a Pod reserves', () => {
  test.each<{ it: string; pod: Draft<PodSpec>; cpu: string; memory?: string }>([
    { it: 'nothing if it asks for nothing', pod: { containers: [{}] }, cpu: '0' },
    {
      it: 'what its containers ask for together',
      pod: { containers: [wants('100m', '1Gi'), wants('1', '512Mi')] },
      cpu: '1100m',
      memory: '1536Mi',
    },
    {
      it: 'the largest init container if that is more',
      pod: { containers: [wants('1')], initContainers: [wants('2'), wants('3')] },
      cpu: '3',
    },
    {
      it: 'its containers if those are more',
      pod: { containers: [wants('4')], initContainers: [wants('2'), wants('3')] },
      cpu: '4',
    },
    {
      it: 'a sidecar beside the containers',
      pod: { containers: [wants('1')], initContainers: [sidecar('500m')] },
      cpu: '1500m',
    },
    {
      it: 'a sidecar beside later init containers',
      pod: { containers: [wants('1')], initContainers: [sidecar('1'), wants('3')] },
      cpu: '4',
    },
    {
      it: 'no sidecar beside earlier init containers',
      pod: { containers: [wants('1')], initContainers: [wants('3'), sidecar('1')] },
      cpu: '3',
    },
    {
      it: 'cpu and memory each by itself',
      pod: { containers: [wants('1', '4Gi')], initContainers: [wants('2', '1Gi')] },
      cpu: '2',
      memory: '4Gi',
    },
    {
      it: 'its overhead on top',
      pod: { containers: [wants('1', '1Gi')], overhead: { cpu: '250m', memory: '1Gi' } },
      cpu: '1250m',
      memory: '2Gi',
    },
    {
      it: 'what it asks for as a whole instead',
      pod: { containers: [wants('1', '1Gi')], resources: { requests: { cpu: '5' } } },
      cpu: '5',
      memory: '1Gi',
    },
    { it: 'nothing for what is no quantity', pod: { containers: [wants('much', '__proto__')] }, cpu: '0' },
  ])('$it', ({ pod, cpu, memory = '0' }) => {
    expect(formatAmounts(podRequests(pod))).toEqual({ cpu, memory });
  });
});

test('amounts are shown as Kubernetes shows them', () => {
  expect(formatAmounts(amountsOf({ cpu: '3920m', memory: '16Gi' }))).toEqual({ cpu: '3920m', memory: '16Gi' });
  expect(formatAmounts(amountsOf({ cpu: 4, memory: '1000' }))).toEqual({ cpu: '4', memory: '1k' });
  expect(formatAmounts(amountsOf({ memory: '100m' }))).toEqual({ cpu: '0', memory: '1' });
  expect(formatAmounts(amountsOf(undefined))).toEqual({ cpu: '0', memory: '0' });
});

test('what is free is never less than nothing', () => {
  expect(minus({ cpu: 1, memory: 5 }, { cpu: 2, memory: 2 })).toEqual({ cpu: 0, memory: 3 });
});

test('a sum does not depend on the order', () => {
  const amounts = fc.record({ cpu: fc.nat(1e12), memory: fc.nat(1e12) });
  fc.assert(
    fc.property(fc.array(amounts), (all) => {
      expect(sum(all.toReversed())).toEqual(sum(all));
    }),
  );
});
