// The effect of a step on Pods, the same on both sides.

import type { Pod } from '../../../api/builtin/shapes.ts';
import type { KubeObject } from '../../../api/object.ts';
import { byText } from '../../../base/compare.ts';
import { conditionOf } from '../reading.ts';
import type { Step } from './scenarios.ts';

const isReady = (pod: Pod): boolean => conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';
const isOpen = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined && !['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');

const oldestFirst = (pods: readonly KubeObject[]): readonly Pod[] =>
  (pods as readonly Pod[])
    .filter(isOpen)
    .toSorted(
      (a, b) =>
        byText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
        byText(a.metadata.name ?? '', b.metadata.name ?? ''),
    );

/** The Pods that a step changes. */
export function chosen(step: Step, pods: readonly KubeObject[]): readonly Pod[] {
  if (step.do === 'oldest') return oldestFirst(pods).slice(0, 1);
  if (step.do !== 'pods') return [];
  const waiting = oldestFirst(pods).filter((pod) => step.become !== 'Ready' || !isReady(pod));
  return waiting.slice(0, step.count ?? waiting.length);
}

export function podStatus(pod: Pod, become: 'Ready' | 'Succeeded' | 'Failed', at: string): object {
  const ready = become === 'Ready';
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: at,
  });
  return {
    phase: ready ? 'Running' : become,
    startTime: at,
    conditions: [
      condition('Initialized', true),
      condition('Ready', ready),
      condition('ContainersReady', ready),
      condition('PodScheduled', true),
    ],
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready,
      restartCount: 0,
      state: ready
        ? { running: { startedAt: at } }
        : { terminated: { exitCode: become === 'Failed' ? 1 : 0, startedAt: at, finishedAt: at } },
    })),
  };
}

export const goldenNode = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { golden: 'yes', 'kubernetes.io/hostname': name } },
});
