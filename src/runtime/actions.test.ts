// An Event refers to its object by the API version that clients prefer.
import { expect, test } from 'vitest';
import { placement } from '../api/placement.ts';
import { podResource } from '../api/resources.ts';
import { recordEvent } from './actions.ts';

test.each([
  { resource: placement.cluster, apiVersion: 'placement.kubernetes-fleet.io/v1' },
  { resource: placement.namespaced, apiVersion: 'placement.kubernetes-fleet.io/v1' },
  { resource: podResource, apiVersion: 'v1' },
])('an Event about a $resource.kind names $apiVersion', ({ resource, apiVersion }) => {
  const item = { metadata: { name: 'x' } };
  const action = recordEvent({ on: 'hub', resource }, item, { type: 'Normal', reason: 'R', message: 'm' });
  expect(action).toMatchObject({ do: 'event', about: { apiVersion, kind: resource.kind, name: 'x' } });
});
