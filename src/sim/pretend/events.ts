// Events, as users see them with `kubectl describe`. Recorded after writes, with the messages of the corresponding
// component of a real cluster; so rules know nothing about Events, and an idle cluster writes none. Without Pods
// (status-only/) there are no Events.

import type { Condition, ContainerStatus, Pod, ReplicaSet } from '../../api/builtin/shapes.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject, type Json } from '../../base/json.ts';
import { isFinished } from './pods.ts';
import { conditionOf, isDeleting } from './reading.ts';
import * as resources from './resources.ts';
import type { Write } from './rule.ts';

export interface News {
  readonly resource: Resource;
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The Events of one write that was made while reconciling `object`. */
export type Tell<Object> = (write: Write, object: Object) => readonly News[];

export interface Reporter<Object> {
  /** The component, as printed under From. */
  readonly name: string;
  readonly tell: Tell<Object>;
}

const news =
  (type: News['type']) =>
  (resource: Resource, about: KubeObject, reason: string, message: string): News => ({
    resource,
    about,
    type,
    reason,
    message,
  });
const normal = news('Normal');
const warning = news('Warning');

/** The value that a write sets at a path; undefined if it does not set it. */
function setBy(write: Write, ...path: readonly string[]): unknown {
  let value: unknown = write.do === 'patch' ? write.merge : undefined;
  for (const step of path) value = isObject(value) && Object.hasOwn(value, step) ? (value[step] as Json) : undefined;
  return value;
}

const nameIn = (write: Write): string =>
  (write.do === 'create' ? write.object.metadata.name : write.of.metadata.name) ?? '';

export const deploymentNews: Reporter<KubeObject> = {
  name: 'deployment-controller',
  tell(write, object) {
    if (write.resource !== resources.replicaSets || write.do === 'delete') return [];
    const sizeIn = (set: KubeObject) => (set as ReplicaSet).spec?.replicas ?? 0;
    const before = write.do === 'create' ? 0 : sizeIn(write.of);
    const after = write.do === 'create' ? sizeIn(write.object) : (setBy(write, 'spec', 'replicas') ?? before);
    if (typeof after !== 'number' || after === before) return [];
    const verb = after > before ? 'up' : 'down';
    const message = `Scaled ${verb} replica set ${nameIn(write)} from ${before} to ${after}`;
    return [normal(resources.deployments, object, 'ScalingReplicaSet', message)];
  },
};

const podsMade = (resource: Resource): Tell<KubeObject> => {
  return (write, object) => {
    if (write.resource !== resources.pods || write.do === 'patch') return [];
    return write.do === 'create'
      ? [normal(resource, object, 'SuccessfulCreate', `Created pod: ${nameIn(write)}`)]
      : [normal(resource, object, 'SuccessfulDelete', `Deleted pod: ${nameIn(write)}`)];
  };
};

export const replicaSetNews: Reporter<KubeObject> = {
  name: 'replicaset-controller',
  tell: podsMade(resources.replicaSets),
};
export const daemonSetNews: Reporter<KubeObject> = {
  name: 'daemonset-controller',
  tell: podsMade(resources.daemonSets),
};

export const statefulSetNews: Reporter<KubeObject> = {
  name: 'statefulset-controller',
  tell(write, object) {
    const what = write.resource === resources.pods ? 'Pod' : write.resource === resources.claims ? 'Claim' : undefined;
    if (what === undefined || write.do === 'patch') return [];
    const reason = write.do === 'create' ? 'SuccessfulCreate' : 'SuccessfulDelete';
    const message = `${write.do} ${what} ${nameIn(write)} in StatefulSet ${object.metadata.name} successful`;
    return [normal(resources.statefulSets, object, reason, message)];
  },
};

const jobPods = podsMade(resources.jobs);

export const jobNews: Reporter<KubeObject> = {
  name: 'job-controller',
  tell(write, object) {
    const conditions = setBy(write, 'status', 'conditions') as readonly Condition[] | undefined;
    if (conditions === undefined) return jobPods(write, object);
    const before = (object.status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions;
    return conditions
      .filter(({ type, status }) => conditionOf(before, type)?.status !== status)
      .flatMap(({ type, status, reason = '', message = '' }) => {
        if (type === 'Complete') return [normal(resources.jobs, object, 'Completed', 'Job completed')];
        if (type === 'Failed') return [warning(resources.jobs, object, reason, message)];
        if (type !== 'Suspended') return [];
        return status === 'True'
          ? [normal(resources.jobs, object, 'Suspended', 'Job suspended')]
          : [normal(resources.jobs, object, 'Resumed', 'Job resumed')];
      });
  },
};

export const schedulerNews: Reporter<unknown> = {
  name: 'default-scheduler',
  tell(write) {
    if (write.do !== 'patch') return [];
    const { of } = write;
    const node = setBy(write, 'spec', 'nodeName');
    if (typeof node === 'string') {
      const message = `Successfully assigned ${of.metadata.namespace}/${of.metadata.name} to ${node}`;
      return [normal(resources.pods, of, 'Scheduled', message)];
    }
    const conditions = setBy(write, 'status', 'conditions') as readonly Condition[] | undefined;
    const refused = conditionOf(conditions, 'PodScheduled');
    return refused?.status === 'False' ? [warning(resources.pods, of, 'FailedScheduling', refused.message ?? '')] : [];
  },
};

export const podNews: Reporter<Pod> = {
  name: 'kubelet',
  tell(write, object) {
    const about = (type: typeof normal, reason: string, message: string) =>
      type(resources.pods, object, reason, message);
    if (write.do === 'delete') {
      if (!isDeleting(object) || isFinished(object)) return [];
      return (object.spec?.containers ?? []).map(({ name }) => about(normal, 'Killing', `Stopping container ${name}`));
    }
    const after = setBy(write, 'status', 'containerStatuses') as readonly ContainerStatus[] | undefined;
    return (after ?? []).flatMap((status) => {
      const before = object.status?.containerStatuses?.find(({ name }) => name === status.name);
      return containerNews(object, before, status).map(({ type, reason, message }) =>
        about(type === 'Normal' ? normal : warning, reason, message),
      );
    });
  },
};

type Line = Pick<News, 'type' | 'reason' | 'message'>;

/** The Events between two states of a container. */
function containerNews(
  { metadata }: Pod,
  before: ContainerStatus | undefined,
  { name, image, state, restartCount }: ContainerStatus,
): readonly Line[] {
  const line = (reason: string, message: string, type: Line['type'] = 'Normal'): Line => ({ type, reason, message });
  const pulling = before === undefined ? [line('Pulling', `Pulling image "${image}"`)] : [];
  const hasRun = before?.state?.running !== undefined;
  const started = hasRun
    ? []
    : [
        line(
          'Pulled',
          restartCount > 1
            ? `Container image "${image}" already present on machine`
            : `Successfully pulled image "${image}"`,
        ),
        line('Created', `Created container: ${name}`),
        line('Started', `Started container ${name}`),
      ];
  if (state?.running !== undefined) return [...pulling, ...started];
  if (state?.terminated !== undefined) return [...pulling, ...started];
  switch (state?.waiting?.reason) {
    case 'ImagePullBackOff':
      if (before?.state?.waiting?.reason === 'ImagePullBackOff') return [];
      return [
        ...pulling,
        line('Failed', `Failed to pull image "${image}": not found`, 'Warning'),
        line('Failed', 'Error: ErrImagePull', 'Warning'),
        line('BackOff', `Back-off pulling image "${image}"`),
        line('Failed', 'Error: ImagePullBackOff', 'Warning'),
      ];
    case 'CrashLoopBackOff': {
      const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
      const backOff = line('BackOff', `Back-off restarting failed container ${name} in pod ${pod}`, 'Warning');
      return [...pulling, ...started, backOff];
    }
    default:
      return pulling;
  }
}

export const serviceNews: Reporter<KubeObject> = {
  name: 'service-controller',
  tell(write, object) {
    const ingress = setBy(write, 'status', 'loadBalancer', 'ingress');
    return Array.isArray(ingress)
      ? [normal(resources.services, object, 'EnsuredLoadBalancer', 'Ensured load balancer')]
      : [];
  },
};
