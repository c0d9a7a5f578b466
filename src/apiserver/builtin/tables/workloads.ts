// Tables of workloads.
import type { KubeObject, Labels } from '../../../api/object.ts';
import { groupVersionOf } from '../../../api/object.ts';
import { shortDuration, stampMs } from '../../../base/age.ts';
import type { LabelSelector } from '../../../base/selector.ts';
import type { Condition, PodTemplate } from '../drafts.ts';
import {
  AGE,
  ageOf,
  boolean,
  CONTAINERS,
  containerImages,
  containerNames,
  holds,
  IMAGES,
  integer,
  labelsText,
  NAME,
  nameOf,
  SELECTOR,
  SELECTOR_WORDS,
  selectorText,
  since,
  table,
  text,
} from './table.ts';

interface Replicated {
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector; readonly template?: PodTemplate };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

export const deployment = table<Replicated>(
  [
    NAME,
    text('Ready', 'How many replicas are ready, of how many wanted.'),
    text('Up-to-date', 'How many replicas run the present template.'),
    text('Available', 'How many replicas have been ready for long enough.'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  (object, now) => [
    nameOf(object),
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    object.status?.updatedReplicas ?? 0,
    object.status?.availableReplicas ?? 0,
    ageOf(object, now),
    containerNames(object.spec?.template),
    containerImages(object.spec?.template),
    selectorText(object.spec?.selector, { empty: '', broken: '<invalid>' }),
  ],
);

const DESIRED = integer('Desired', 'How many replicas are wanted.');
const CURRENT = integer('Current', 'How many replicas exist.');
const READY = integer('Ready', 'How many replicas are ready.');

export const replicaSet = table<Replicated>(
  [NAME, DESIRED, CURRENT, READY, AGE, CONTAINERS, IMAGES, SELECTOR],
  (object, now) => [...replicaCells(object, now), selectorText(object.spec?.selector, SELECTOR_WORDS)],
);

/** Its selector is a plain map of labels. */
export const replicationController = table<Replicated>(
  [NAME, DESIRED, CURRENT, READY, AGE, CONTAINERS, IMAGES, SELECTOR],
  (object, now) => [...replicaCells(object, now), labelsText(object.spec?.selector as Labels | undefined)],
);

const replicaCells = (object: KubeObject & Replicated, now: number) => [
  nameOf(object),
  object.spec?.replicas ?? 0,
  object.status?.replicas ?? 0,
  object.status?.readyReplicas ?? 0,
  ageOf(object, now),
  containerNames(object.spec?.template),
  containerImages(object.spec?.template),
];

export const statefulSet = table<Replicated>(
  [NAME, text('Ready', 'How many replicas are ready, of how many wanted.'), AGE, CONTAINERS, IMAGES],
  (object, now) => [
    nameOf(object),
    `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    ageOf(object, now),
    containerNames(object.spec?.template),
    containerImages(object.spec?.template),
  ],
);

interface PerNode {
  readonly spec?: { readonly selector?: LabelSelector; readonly template?: PodTemplate };
  readonly status?: {
    readonly desiredNumberScheduled?: number;
    readonly currentNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
  };
}

export const daemonSet = table<PerNode>(
  [
    NAME,
    integer('Desired', 'How many nodes should run the Pod.'),
    integer('Current', 'How many nodes run it.'),
    integer('Ready', 'On how many nodes it is ready.'),
    integer('Up-to-date', 'On how many nodes it runs the present template.'),
    integer('Available', 'On how many nodes it has been ready for long enough.'),
    text('Node Selector', 'Labels of the nodes that should run the Pod.'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  (object, now) => [
    nameOf(object),
    object.status?.desiredNumberScheduled ?? 0,
    object.status?.currentNumberScheduled ?? 0,
    object.status?.numberReady ?? 0,
    object.status?.updatedNumberScheduled ?? 0,
    object.status?.numberAvailable ?? 0,
    labelsText(object.spec?.template?.spec?.nodeSelector),
    ageOf(object, now),
    containerNames(object.spec?.template),
    containerImages(object.spec?.template),
    selectorText(object.spec?.selector, SELECTOR_WORDS),
  ],
);

interface Job {
  readonly spec?: {
    readonly completions?: number;
    readonly parallelism?: number;
    readonly selector?: LabelSelector;
    readonly template?: PodTemplate;
  };
  readonly status?: {
    readonly succeeded?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

export const job = table<Job>(
  [
    NAME,
    text('Status', 'What the Job is doing, or how it ended.'),
    text('Completions', 'How many Pods succeeded, of how many wanted.'),
    text('Duration', 'From the start to the end, or to now.'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  (object, now) => [
    nameOf(object),
    jobStatus(object),
    completions(object),
    jobDuration(object, now),
    ageOf(object, now),
    containerNames(object.spec?.template),
    containerImages(object.spec?.template),
    selectorText(object.spec?.selector, SELECTOR_WORDS),
  ],
);

function jobStatus(object: KubeObject & Job): string {
  const conditions = object.status?.conditions;
  if (holds(conditions, 'Complete')) return 'Complete';
  if (holds(conditions, 'Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (holds(conditions, 'Suspended')) return 'Suspended';
  if (holds(conditions, 'FailureTarget')) return 'FailureTarget';
  if (holds(conditions, 'SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return 'Running';
}

function completions({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration({ status }: Job, now: number): string {
  if (status?.startTime === undefined) return '';
  const end = status.completionTime === undefined ? now : stampMs(status.completionTime);
  return shortDuration(end - stampMs(status.startTime));
}

interface CronJob {
  readonly spec?: {
    readonly schedule?: string;
    readonly timeZone?: string;
    readonly suspend?: boolean;
    readonly jobTemplate?: { readonly spec?: { readonly selector?: LabelSelector; readonly template?: PodTemplate } };
  };
  readonly status?: { readonly active?: readonly unknown[]; readonly lastScheduleTime?: string };
}

export const cronJob = table<CronJob>(
  [
    NAME,
    text('Schedule', 'When Jobs are started, in cron format.'),
    text('Timezone', 'The time zone of the schedule.'),
    boolean('Suspend', 'Whether no further Jobs are started.'),
    integer('Active', 'How many Jobs are running.'),
    text('Last Schedule', 'Time since a Job was started last.'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  (object, now) => {
    const { spec, status } = object;
    const template = spec?.jobTemplate?.spec;
    return [
      nameOf(object),
      spec?.schedule ?? '',
      spec?.timeZone ?? '<none>',
      spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
      status?.active?.length ?? 0,
      status?.lastScheduleTime === undefined ? '<none>' : since(status.lastScheduleTime, now),
      ageOf(object, now),
      containerNames(template?.template),
      containerImages(template?.template),
      selectorText(template?.selector, SELECTOR_WORDS),
    ];
  },
);

export const controllerRevision = table<{ readonly revision?: number }>(
  [NAME, text('Controller', 'Whose revision this is.'), text('Revision', 'The number of the revision.'), AGE],
  (object, now) => [nameOf(object), controllerOf(object), object.revision ?? 0, ageOf(object, now)],
);

function controllerOf(object: KubeObject): string {
  const owner = object.metadata.ownerReferences?.find((each) => each.controller);
  if (owner === undefined) return '<none>';
  const { group } = groupVersionOf(owner.apiVersion);
  const kind = group === '' ? owner.kind : `${owner.kind}.${group}`;
  return `${kind.toLowerCase()}/${owner.name}`;
}

export const podTemplate = table<{ readonly template?: PodTemplate }>(
  [
    NAME,
    text('Containers', 'Names of the containers.'),
    text('Images', 'Images of the containers.'),
    text('Pod Labels', 'Labels of Pods made from the template.'),
  ],
  ({ template, ...object }) => [
    nameOf(object as KubeObject),
    containerNames(template),
    containerImages(template),
    labelsText(template?.metadata?.labels),
  ],
);
