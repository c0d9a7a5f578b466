import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { durationOf } from './duration.ts';

const at = (second: number): string => new Date(Date.parse('2026-01-01T12:00:00Z') + second * 1000).toISOString();
const took = (seconds: number, applied = 'True', available = 'True'): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ClusterResourceBinding',
    metadata: {},
    status: {
      conditions: [
        { type: 'Applied', status: applied, lastTransitionTime: at(0) },
        { type: 'Available', status: available, lastTransitionTime: at(seconds) },
      ],
    },
  }) as KubeObject;

describe('the duration of a cluster', () => {
  test.each<{ it: string; bindings: readonly KubeObject[]; given?: number; durationMs: number; from: string }>([
    { it: 'is the one that is given', bindings: [took(30)], given: 5, durationMs: 5, from: 'given' },
    { it: 'is the median', bindings: [took(90), took(10), took(30)], durationMs: 30_000, from: 'history' },
    {
      it: 'is that of clusters that are available',
      bindings: [took(90, 'True', 'False'), took(90, 'False'), took(20)],
      durationMs: 20_000,
      from: 'history',
    },
    {
      it: 'is not taken from an availability older than what is applied now',
      bindings: [took(-60), took(20)],
      durationMs: 20_000,
      from: 'history',
    },
    {
      it: 'is unknown without any',
      bindings: [{ ...took(1), status: {} } as KubeObject],
      durationMs: 0,
      from: 'unknown',
    },
  ])('$it', ({ bindings, given, durationMs, from }) => {
    expect(durationOf(bindings, given)).toEqual({ durationMs, durationFrom: from });
  });
});
