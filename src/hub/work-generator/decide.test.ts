// Since when a cluster is available, if the hub crashed between writing the Work and reporting it.
import { expect, test } from 'vitest';
import type { BindingState } from '../../api/binding.ts';
import type { Condition } from '../../api/conditions.ts';
import { finalizers, labels } from '../../api/names.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { kubeTime } from '../../base/clock.ts';
import { clusterFamily } from '../families.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { HubWork } from '../work-source.ts';
import { decide } from './decide.ts';
import { type DesiredWork, desiredWorks } from './desired.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const BEFORE = kubeTime(NOW - 3_600_000);

const said = (type: string, reason: string, observedGeneration: number): Condition => ({
  type,
  status: 'True',
  reason,
  message: '',
  observedGeneration,
  lastTransitionTime: BEFORE,
});

const group = [
  { metadata: { name: 'web-1-snapshot', labels: { [labels.resourceIndex]: '1' } }, spec: { selectedResources: [] } },
] as unknown as readonly ResourceSnapshot[];

test.each<{ it: string; state: BindingState; generation: number; since: string }>([
  { it: 'counts from now if it was said of another order', state: 'Bound', generation: 1, since: kubeTime(NOW) },
  { it: 'stays if it was said of this one', state: 'Bound', generation: 2, since: BEFORE },
  { it: 'stays if it is only given up', state: 'Unscheduled', generation: 1, since: BEFORE },
])('the time of what nobody can track $it', ({ state, generation, since }) => {
  const binding: HubBinding = {
    metadata: {
      name: 'web-c1-1',
      uid: 'u',
      resourceVersion: '1',
      generation: 2,
      labels: { [labels.parentPlacement]: 'web' },
      finalizers: [finalizers.workCleanup],
    },
    spec: {
      state,
      targetCluster: 'c1',
      resourceSnapshotName: 'web-1-snapshot',
      schedulingPolicySnapshotName: 'web-0',
      clusterDecision: { clusterName: 'c1', selected: true, reason: '' },
    },
    conditions: [
      said('RolloutStarted', 'RolloutStarted', 2),
      said('Available', 'NotAllWorkAreAvailabilityTrackable', generation),
    ],
  };
  const works = (desiredWorks(binding, group, []) as readonly DesiredWork[]).map(
    ({ name, namespace, labels: marks, annotations, content }): HubWork => ({
      metadata: { name, namespace, uid: 'w', resourceVersion: '1', generation: 5, labels: marks, annotations },
      content,
      strategy: '',
      conditions: [said('Applied', 'AllManifestsApplied', 5), said('Available', 'WorkNotTrackable', 5)],
      reports: [],
    }),
  );
  const { steps } = decide({
    family: clusterFamily,
    binding,
    works,
    group,
    overrides: [],
    isMemberThere: true,
    isMemberLeaving: false,
    now: NOW,
  });
  expect(steps).toHaveLength(1);
  expect(steps[0]).toMatchObject([{ do: 'patch', subresource: 'status' }]);
  const [write] = steps[0] as unknown as [{ merge: { status: { conditions: readonly Condition[] } } }];
  expect(write.merge.status.conditions.find(({ type }) => type === 'Available')).toMatchObject({
    observedGeneration: 2,
    lastTransitionTime: since,
  });
});
