// Deployments and similar kinds: defaults for strategy, history and replicas; a selector that is required, immutable
// and matches the template.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { forbiddenField, invalidValue, required, unsupportedValue } from '../../api/status.ts';
import type { IntOrPercent } from '../../base/int-or-percent.ts';
import { deepEqual } from '../../base/json.ts';
import { type LabelSelector, matchesLabels } from '../../base/selector.ts';
import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, labelName, specOf, startsWith, textAt } from './behaviour.ts';
import { claimSpecCauses } from './claim-spec.ts';
import type { PodTemplate, RollingUpdate, SelectorDraft, WorkloadSpec } from './drafts.ts';
import {
  type Causes,
  countOrPercent,
  dnsLabel,
  nonNegative,
  notMoreThanAll,
  oneOf,
  selectorCauses,
  shownLabels,
  shownSelector,
} from './field-checks.ts';
import { defaultPodSpec, dropFromPodSpec } from './pod-spec.ts';
import { podTemplateCauses } from './pod-spec-validation.ts';

/** Sets all defaults of a Pod template. */
export function defaultTemplate(template: PodTemplate): void {
  template.metadata ??= {};
  template.spec ??= {};
  defaultPodSpec(template.spec);
}

export const dropFromTemplate = (template: PodTemplate | undefined): void => {
  if (template?.spec) dropFromPodSpec(template.spec);
};

const dropFromWorkload = (draft: Draft): void => dropFromTemplate(specOf<WorkloadSpec>(draft).template);

function templateOf(spec: WorkloadSpec): PodTemplate {
  spec.template ??= {};
  defaultTemplate(spec.template);
  return spec.template;
}

// ---- Deployment

export const deployment: Behaviour = behaviour({
  drop: dropFromWorkload,
  countsGeneration: true,
  annotationsCount: true,
  statusKeeps: { fields: ['labels'] },
  default(draft) {
    const spec = specOf<WorkloadSpec>(draft);
    templateOf(spec);
    spec.replicas ??= 1;
    spec.strategy ??= {};
    spec.strategy.type ||= 'RollingUpdate';
    if (spec.strategy.type === 'RollingUpdate') {
      spec.strategy.rollingUpdate ??= {};
      spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
      spec.strategy.rollingUpdate.maxSurge ??= '25%';
    }
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
  },
  prepare: startsWith(() => ({})),
  validate(object, old, { subresource }) {
    if (subresource === 'status') return deploymentStatusCauses(object);
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as WorkloadSpec;
    const { strategy = {}, minReadySeconds = 0, progressDeadlineSeconds: deadline } = spec;
    return [
      ...nonNegative('spec.replicas', spec.replicas),
      ...selectorCausesOf(spec, 'deployment'),
      ...templateCausesOf(spec),
      ...strategyCauses(strategy),
      ...nonNegative('spec.minReadySeconds', minReadySeconds),
      ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
      ...nonNegative('spec.progressDeadlineSeconds', deadline),
      ...(deadline !== undefined && deadline <= minReadySeconds
        ? [invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
        : []),
      ...immutableSelector(spec, old),
    ];
  },
});

const COUNTS = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'] as const;

function deploymentStatusCauses(object: KubeObject): Causes {
  const status = (object.status ?? {}) as Readonly<Record<string, number | undefined>>;
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const notMoreThan = (field: string, max: number, what: string): Causes => {
    const value = status[field] ?? 0;
    return value > max ? [invalidValue(`status.${field}`, value, `cannot be greater than ${what}`)] : [];
  };
  return [
    ...nonNegative('status.observedGeneration', status['observedGeneration']),
    ...COUNTS.flatMap((field) => nonNegative(`status.${field}`, status[field])),
    ...nonNegative('status.collisionCount', status['collisionCount']),
    ...['updatedReplicas', 'readyReplicas', 'availableReplicas'].flatMap((field) =>
      notMoreThan(field, replicas, 'status.replicas'),
    ),
    ...(availableReplicas > readyReplicas ? notMoreThan('availableReplicas', readyReplicas, 'readyReplicas') : []),
  ];
}

function strategyCauses(strategy: { type?: string; rollingUpdate?: RollingUpdate }): Causes {
  if (strategy.type === 'Recreate') {
    const why = "may not be specified when strategy `type` is 'Recreate'";
    return strategy.rollingUpdate === undefined ? [] : [forbiddenField('spec.strategy.rollingUpdate', why)];
  }
  if (strategy.type !== 'RollingUpdate')
    return [unsupportedValue('spec.strategy', strategy, ['Recreate', 'RollingUpdate'])];
  const { rollingUpdate } = strategy;
  if (rollingUpdate === undefined)
    return [required('spec.strategy.rollingUpdate', 'this should be defaulted and never be nil')];
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
  const field = 'spec.strategy.rollingUpdate';
  const causes: FieldCause[] = [
    ...countOrPercent(`${field}.maxUnavailable`, maxUnavailable),
    ...countOrPercent(`${field}.maxSurge`, maxSurge),
  ];
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    causes.push(invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...causes, ...notMoreThanAll(`${field}.maxUnavailable`, maxUnavailable)];
}

const isNone = (value: IntOrPercent): boolean => value === 0 || value === '0%';

// ---- ReplicaSet, ReplicationController

export const replicaSet: Behaviour = behaviour({
  drop: dropFromWorkload,
  countsGeneration: true,
  default(draft) {
    const spec = specOf<WorkloadSpec>(draft);
    templateOf(spec);
    spec.replicas ??= 1;
  },
  prepare: startsWith(() => ({ replicas: 0 })),
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as WorkloadSpec;
    return [
      ...nonNegative('spec.replicas', spec.replicas),
      ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
      ...selectorCausesOf(spec, 'deployment'),
      ...templateCausesOf(spec),
      ...immutableSelector(spec, old),
    ];
  },
  selectableFields: { 'status.replicas': (object) => textAt('status', 'replicas')(object) || '0' },
});

interface ControllerSpec extends Omit<WorkloadSpec, 'selector'> {
  selector?: Record<string, string>;
}

export const replicationController: Behaviour = behaviour({
  drop: dropFromWorkload,
  countsGeneration: true,
  default(draft) {
    const spec = specOf<ControllerSpec>(draft);
    spec.replicas ??= 1;
    if (!spec.template) return;
    defaultTemplate(spec.template);
    const labels = spec.template.metadata?.labels;
    if (!labels) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(draft.metadata.labels ?? {}).length === 0) draft.metadata.labels = { ...labels };
  },
  prepare: startsWith(() => ({ replicas: 0 })),
  validate(object, _old, { subresource }) {
    if (subresource !== undefined) return [];
    const { selector = {}, template, replicas, minReadySeconds } = (object.spec ?? {}) as ControllerSpec;
    const isEmpty = Object.keys(selector).length === 0;
    return [
      ...nonNegative('spec.minReadySeconds', minReadySeconds),
      ...(isEmpty ? [required('spec.selector')] : []),
      ...nonNegative('spec.replicas', replicas),
      ...(template === undefined
        ? [required('spec.template')]
        : templateCausesOf({ selector: { matchLabels: selector }, template })),
    ];
  },
  selectableFields: { 'status.replicas': (object) => textAt('status', 'replicas')(object) || '0' },
});

// ---- StatefulSet

export const statefulSet: Behaviour = behaviour({
  drop: dropFromWorkload,
  countsGeneration: true,
  nameError: labelName,
  default(draft) {
    const spec = specOf<WorkloadSpec>(draft);
    templateOf(spec);
    spec.podManagementPolicy ||= 'OrderedReady';
    spec.updateStrategy ??= {};
    if (!spec.updateStrategy.type) {
      spec.updateStrategy.type = 'RollingUpdate';
      spec.updateStrategy.rollingUpdate ??= {};
    }
    if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
      spec.updateStrategy.rollingUpdate.partition ??= 0;
    }
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion = 'v1';
      claim.kind = 'PersistentVolumeClaim';
      claim.metadata ??= {};
      claim.spec ??= {};
      claim.spec.volumeMode ??= 'Filesystem';
      claim.status = { ...claim.status, phase: claim.status?.phase || 'Pending' };
    }
  },
  prepare: startsWith(() => ({ replicas: 0, availableReplicas: 0 })),
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as WorkloadSpec;
    return old === undefined
      ? statefulSetCauses(spec)
      : [...statefulSetUpdateCauses(spec, old), ...statefulSetCauses(spec)];
  },
});

function statefulSetCauses(spec: WorkloadSpec): Causes {
  const { updateStrategy = {}, persistentVolumeClaimRetentionPolicy: retention = {} } = spec;
  const causes: FieldCause[] = [];
  if (!['OrderedReady', 'Parallel'].includes(spec.podManagementPolicy ?? '')) {
    const why = "must be 'OrderedReady' or 'Parallel'";
    causes.push(invalidValue('spec.podManagementPolicy', spec.podManagementPolicy ?? '', why));
  }
  if (updateStrategy.type === 'OnDelete') {
    if (updateStrategy.rollingUpdate !== undefined) {
      const why = "only allowed for updateStrategy 'RollingUpdate'";
      causes.push(invalidValue('spec.updateStrategy.rollingUpdate', updateStrategy.rollingUpdate, why));
    }
  } else if (updateStrategy.type === 'RollingUpdate') {
    causes.push(...nonNegative('spec.updateStrategy.rollingUpdate.partition', updateStrategy.rollingUpdate?.partition));
  } else {
    causes.push(invalidValue('spec.updateStrategy', updateStrategy, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  const field = 'spec.persistentVolumeClaimRetentionPolicy';
  return [
    ...causes,
    ...oneOf(`${field}.whenDeleted`, retention.whenDeleted, ['Retain', 'Delete']),
    ...oneOf(`${field}.whenScaled`, retention.whenScaled, ['Retain', 'Delete']),
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...(spec.serviceName ? dnsLabel('spec.serviceName', spec.serviceName) : []),
    ...(spec.volumeClaimTemplates ?? []).flatMap((claim, index) =>
      claimSpecCauses(`spec.volumeClaimTemplates[${index}].spec`, claim.spec ?? {}),
    ),
    ...selectorCausesOf(spec, 'statefulset'),
    ...templateCausesOf(spec),
  ];
}

const STATEFUL_CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const satisfies readonly (keyof WorkloadSpec)[];

function statefulSetUpdateCauses(spec: WorkloadSpec, old: KubeObject): Causes {
  const fixed = (whole: WorkloadSpec): object => {
    const rest: Partial<WorkloadSpec> = { ...whole };
    for (const field of STATEFUL_CHANGEABLE) delete rest[field];
    return rest;
  };
  if (deepEqual(fixed(spec), fixed((old.spec ?? {}) as WorkloadSpec))) return [];
  const listed = STATEFUL_CHANGEABLE.map((field) => `'${field}'`);
  const why = `updates to statefulset spec for fields other than ${listed.slice(0, -1).join(', ')} and ${listed.at(-1)} are forbidden`;
  return [forbiddenField('spec', why)];
}

// ---- DaemonSet

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

export const daemonSet: Behaviour = behaviour({
  drop: dropFromWorkload,
  countsGeneration: true,
  default(draft) {
    const spec = specOf<WorkloadSpec>(draft);
    templateOf(spec);
    spec.updateStrategy ??= {};
    spec.updateStrategy.type ||= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
    }
    spec.revisionHistoryLimit ??= 10;
    // A client that omits it still owns it: in the Go type it is a plain number.
    draft.metadata.annotations = { [TEMPLATE_GENERATION]: '0', ...draft.metadata.annotations };
  },
  prepare(draft, old, context) {
    startsWith(emptyDaemonStatus)(draft, old, context);
    if (context.subresource !== undefined) return;
    // Old controllers counted templates with this annotation; a real server still does.
    const before = Number(old?.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
    const isChanged = !deepEqual(
      (old?.spec as WorkloadSpec | undefined)?.template,
      specOf<WorkloadSpec>(draft).template,
    );
    const generation = String(isChanged ? before + 1 : before);
    draft.metadata.annotations = { ...draft.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  },
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as WorkloadSpec;
    return [
      ...selectorCauses('spec.selector', spec.selector),
      ...(spec.selector && isEmptySelector(spec.selector)
        ? [invalidValue('spec.selector', spec.selector, 'empty selector is invalid for daemonset')]
        : []),
      ...templateCausesOf(spec, { forDaemons: true }),
      ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
      ...daemonStrategyCauses(spec),
      ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
      ...immutableSelector(spec, old),
    ];
  },
});

const emptyDaemonStatus = () => ({
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
});

function daemonStrategyCauses({ updateStrategy = {} }: WorkloadSpec): Causes {
  if (updateStrategy.type === 'OnDelete') return [];
  if (updateStrategy.type !== 'RollingUpdate') {
    return [unsupportedValue('spec.updateStrategy', updateStrategy, ['RollingUpdate', 'OnDelete'])];
  }
  const { maxUnavailable = 0, maxSurge = 0 } = updateStrategy.rollingUpdate ?? {};
  const field = 'spec.updateStrategy.rollingUpdate';
  const causes: FieldCause[] = [
    ...countOrPercent(`${field}.maxUnavailable`, maxUnavailable),
    ...notMoreThanAll(`${field}.maxUnavailable`, maxUnavailable),
    ...countOrPercent(`${field}.maxSurge`, maxSurge),
    ...notMoreThanAll(`${field}.maxSurge`, maxSurge),
  ];
  if (!isNone(maxUnavailable) && !isNone(maxSurge)) {
    causes.push(invalidValue(`${field}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    causes.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return causes;
}

// ---- common

export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: SelectorDraft): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;

function selectorCausesOf(spec: WorkloadSpec, kind: string): Causes {
  const { selector } = spec;
  if (!selector) return [required('spec.selector')];
  const causes = selectorCauses('spec.selector', selector);
  if (isEmptySelector(selector)) {
    return [...causes, invalidValue('spec.selector', shownSelector(selector), `empty selector is invalid for ${kind}`)];
  }
  if (causes.length === 0) return causes;
  const why = kind === 'statefulset' ? '' : 'invalid label selector';
  return [...causes, invalidValue('spec.selector', shownSelector(selector), why)];
}

/** The template must be valid, restart always, and be selected by its own controller. */
function templateCausesOf(
  { selector, template, volumeClaimTemplates }: WorkloadSpec,
  { forDaemons = false } = {},
): Causes {
  const causes: FieldCause[] = [];
  // An invalid selector cannot be matched, so a server stops here.
  const isInvalid = selector !== undefined && selectorCauses('', selector).length > 0;
  if (isInvalid && !forDaemons) return causes;
  const isSelected = selector && !isInvalid && !isEmptySelector(selector);
  const labels = template?.metadata?.labels;
  if (!selector || (isSelected && !matchesLabels(selector as LabelSelector, labels))) {
    const why = '`selector` does not match template `labels`';
    causes.push(invalidValue('spec.template.metadata.labels', shownLabels(labels), why));
  }
  const claims = (volumeClaimTemplates ?? []).map((claim) => claim.metadata?.name ?? '');
  // Each claim becomes a volume of the template, before its own volumes.
  claims.forEach((name, index) => {
    if (name !== '') return;
    const at = `spec.template.spec.volumes[${index}]`;
    causes.push(required(`${at}.name`), required(`${at}.persistentVolumeClaim.claimName`));
  });
  causes.push(...podTemplateCauses('spec.template', template, claims));
  const { restartPolicy = 'Always', activeDeadlineSeconds } = template?.spec ?? {};
  if (['OnFailure', 'Never'].includes(restartPolicy)) {
    causes.push(unsupportedValue('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const why = 'activeDeadlineSeconds in ReplicaSet is not Supported';
    causes.push(forbiddenField('spec.template.spec.activeDeadlineSeconds', why));
  }
  return causes;
}

function immutableSelector(spec: WorkloadSpec, old: KubeObject | undefined): Causes {
  if (old === undefined || deepEqual(spec.selector, (old.spec as WorkloadSpec | undefined)?.selector)) return [];
  return [invalidValue('spec.selector', spec.selector ?? null, 'field is immutable')];
}
