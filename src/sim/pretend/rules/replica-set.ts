// A ReplicaSet: creates and deletes Pods to match its replicas, and counts them.

import type { Pod, PodTemplate, ReplicaSet } from '../../../api/builtin/shapes.ts';
import { freePodNames } from '../names.ts';
import {
  cheapestFirst,
  hasLabelsOf,
  isActive,
  isAvailable,
  isReady,
  managedPods,
  namesOf,
  nextAvailable,
} from '../pods.ts';
import { isDeleting } from '../reading.ts';
import { pods, replicaSets } from '../resources.ts';
import { earliest, managedBy, nothing, type Rule, statusWrites, type Write } from '../rule.ts';
import { positive } from './deployment.ts';

export interface PodsRelated {
  /** Pods whose controller has this object's kind and name, including those of a deleted predecessor. */
  readonly pods: readonly Pod[];
}

export const replicaSet: Rule<ReplicaSet, PodsRelated> = (object, related, now) => {
  const { spec } = object;
  if (spec === undefined) return nothing;
  const active = managedPods(related.pods, object.metadata.uid).filter(isActive);
  const missing = spec.replicas - active.length;
  if (missing !== 0 && !isDeleting(object)) {
    return { writes: missing > 0 ? create(object, spec.template, missing, related) : remove(active, -missing) };
  }
  const count = (matches: (pod: Pod) => boolean) => active.filter(matches).length;
  const status = {
    replicas: active.length,
    observedGeneration: object.metadata.generation ?? 0,
    ...positive({
      fullyLabeledReplicas: count((pod) => hasLabelsOf(spec.template, pod)),
      readyReplicas: count(isReady),
      availableReplicas: count((pod) => isAvailable(pod, spec.minReadySeconds, now)),
    }),
  };
  return {
    writes: statusWrites(replicaSets, object, { status, because: `${active.length} Pods` }),
    ...earliest(nextAvailable(active, spec.minReadySeconds, now)),
  };
};

function create(object: ReplicaSet, template: PodTemplate, count: number, related: PodsRelated): readonly Write[] {
  const { name = '', namespace = '' } = object.metadata;
  const owner = managedBy(replicaSets, object);
  return freePodNames(name, count, namesOf(related.pods)).map(
    (podName): Write => ({
      do: 'create',
      resource: pods,
      because: `${name} lacks ${count}`,
      object: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: podName,
          generateName: `${name}-`,
          namespace,
          ...template.metadata,
          ownerReferences: [owner],
        },
        spec: template.spec,
      },
    }),
  );
}

const remove = (active: readonly Pod[], count: number): readonly Write[] =>
  cheapestFirst(active)
    .slice(0, count)
    .map((of): Write => ({ do: 'delete', resource: pods, of, because: `${count} too many` }));
