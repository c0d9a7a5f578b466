import { describe, expect, test } from 'vitest';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import { verdictOf } from './table.ts';

interface Row {
  readonly it: string;
  readonly of: readonly [group: string, version: string, plural: string];
  readonly status: object;
  readonly notes?: Readonly<Record<string, string>>;
  readonly ignore: readonly Readonly<Record<string, string>>[];
  /** Without and with the conditions that are ignored. */
  readonly is: readonly [string, string];
}

const condition = (type: string, status: string, reason = 'X') => ({
  type,
  status,
  reason,
  message: 'm',
  observedGeneration: 2,
});
const DEPLOYMENT = ['apps', 'v1', 'deployments'] as const;
const DEFINITION = ['apiextensions.k8s.io', 'v1', 'customresourcedefinitions'] as const;
const BUDGET = ['policy', 'v1', 'poddisruptionbudgets'] as const;
const EXPORT = ['networking.fleet.azure.com', 'v1alpha1', 'serviceexports'] as const;
const stuck = condition('Progressing', 'False', 'ProgressDeadlineExceeded');
const tracked = { [annotations.trackAvailability]: 'true' };

const ROWS: readonly Row[] = [
  {
    it: 'a deadline that was exceeded fails no Deployment, and its replicas still count',
    of: DEPLOYMENT,
    status: { observedGeneration: 2, conditions: [stuck] },
    ignore: [{ type: 'Progressing', status: 'False' }],
    is: ['failed', 'not-yet'],
  },
  {
    it: 'a condition with another status counts',
    of: DEPLOYMENT,
    status: { observedGeneration: 2, conditions: [stuck] },
    ignore: [{ type: 'Progressing', status: 'True' }],
    is: ['failed', 'failed'],
  },
  {
    it: 'all fields must match',
    of: DEPLOYMENT,
    status: { observedGeneration: 2, conditions: [stuck] },
    ignore: [{ type: 'Progressing', reason: 'Other' }, { other: 'Progressing' }],
    is: ['failed', 'failed'],
  },
  {
    it: 'one of several patterns is enough, by any field',
    of: DEPLOYMENT,
    status: { observedGeneration: 2, conditions: [stuck] },
    ignore: [{ type: 'Ready' }, { reason: 'ProgressDeadlineExceeded', observedGeneration: '2' }],
    is: ['failed', 'not-yet'],
  },
  {
    it: 'a Job that has failed',
    of: ['batch', 'v1', 'jobs'],
    status: { ready: 1, conditions: [condition('Failed', 'True')] },
    notes: tracked,
    ignore: [{ type: 'Failed' }],
    is: ['failed', 'available'],
  },
  {
    it: 'a definition whose names are not accepted',
    of: DEFINITION,
    status: { conditions: [condition('NamesAccepted', 'False'), condition('Established', 'True')] },
    ignore: [{ type: 'NamesAccepted', status: 'False' }],
    is: ['not-yet', 'available'],
  },
  {
    it: 'a condition that is not there yet is still required',
    of: DEFINITION,
    status: { conditions: [condition('NamesAccepted', 'True')] },
    ignore: [{ type: 'Established', status: 'False' }],
    is: ['not-yet', 'not-yet'],
  },
  {
    it: 'a budget whose status contradicts itself',
    of: BUDGET,
    status: { observedGeneration: 2, disruptionsAllowed: 1, conditions: [condition('DisruptionAllowed', 'False')] },
    ignore: [{ type: 'DisruptionAllowed' }],
    is: ['not-yet', 'available'],
  },
  {
    it: 'an export with a conflict',
    of: EXPORT,
    status: { conditions: [condition('Valid', 'True'), condition('Conflict', 'True')] },
    ignore: [{ type: 'Conflict', status: 'True' }],
    is: ['not-yet', 'available'],
  },
  {
    it: 'a status without conditions, and one whose conditions are none',
    of: DEFINITION,
    status: { conditions: 'none' },
    ignore: [{ type: 'Established' }],
    is: ['not-yet', 'not-yet'],
  },
  {
    it: 'a kind that nobody can tell about',
    of: ['example.com', 'v1', 'widgets'],
    status: { conditions: [condition('Ready', 'False')] },
    ignore: [{ type: 'Ready' }],
    is: ['untracked', 'untracked'],
  },
];

describe('conditions that do not count', () => {
  test.each(ROWS)('$it', ({ of: [group, version, plural], status, notes = {}, ignore, is }) => {
    const resource = { group, version, plural, kind: 'Any', namespaced: true };
    const live = {
      apiVersion: 'v1',
      kind: 'Any',
      metadata: { name: 'a', generation: 2, annotations: notes },
      spec: { replicas: 1 },
      status,
    } as KubeObject;
    expect([verdictOf(resource, live).is, verdictOf(resource, live, ignore).is]).toEqual(is);
    expect(verdictOf(resource, live, []).is).toBe(is[0]);
  });
});
