import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import type { ManifestCondition } from '../../api/work.ts';
import { statusCopies } from './copies.ts';

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
} satisfies KubeObject;
const AVAILABLE = { availableReplicas: 2 };

const entry = (identifier: object, observed: object | undefined): ManifestCondition =>
  ({
    identifier: { ordinal: 0, ...identifier },
    conditions: [],
    ...(observed === undefined
      ? {}
      : { backReportedStatus: { observedStatus: observed, observationTime: '2026-01-01T00:00:00Z' } }),
  }) as unknown as ManifestCondition;

const observed = (more: object = {}) => ({ apiVersion: 'apps/v1', kind: 'Deployment', status: AVAILABLE, ...more });
const named = { group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
const copied = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', status: AVAILABLE };

describe('of the statuses that a member reports', () => {
  test.each([
    { it: 'that of an object of the revision is copied', entries: [entry(named, observed())], copies: [copied] },
    { it: 'an object without a status has none', entries: [entry(named, undefined)], copies: [] },
    { it: 'a status that is no object is none', entries: [entry(named, observed({ status: 'up' }))], copies: [] },
    {
      it: 'that of an object that was not placed is left out',
      entries: [
        entry({ ...named, name: 'other' }, observed()),
        entry({ ...named, namespace: 'kube-system' }, observed()),
      ],
      copies: [],
    },
    {
      it: 'that of another kind is left out',
      entries: [entry(named, observed({ kind: 'StatefulSet' })), entry(named, observed({ apiVersion: 'apps/v2' }))],
      copies: [],
    },
  ])('$it', ({ entries, copies }) => {
    expect(statusCopies({ conditions: [], manifestConditions: entries }, [web])).toEqual(copies);
  });

  test('those of namespaces and definitions are kept by the hub itself', () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } } satisfies KubeObject;
    const status = { apiVersion: 'v1', kind: 'Namespace', status: { phase: 'Terminating' } };
    const manifestConditions = [entry({ version: 'v1', kind: 'Namespace', name: 'shop' }, status)];
    expect(statusCopies({ conditions: [], manifestConditions }, [namespace])).toEqual([]);
  });
});
