// Jobs and CronJobs. The server generates a Job's selector and the labels of its Pods from its uid, so that two Jobs
// never select each other's Pods.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { invalidValue, required, unsupportedValue } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import { dnsLabelErrors } from '../../base/names.ts';
import { type LabelSelector, matchesLabels } from '../../base/selector.ts';
import type { Behaviour, Draft } from '../registry.ts';
import { behaviour, specOf, startsWith, subdomainName, textAt } from './behaviour.ts';
import { cronScheduleError } from './cron-schedule.ts';
import type { JobSpec, PodTemplate } from './drafts.ts';
import {
  type Causes,
  dnsSubdomain,
  nonNegative,
  oneOf,
  selectorCauses,
  shownLabels,
  shownSelector,
} from './field-checks.ts';
import { podTemplateCauses } from './pod-spec-validation.ts';
import { defaultTemplate, dropFromTemplate } from './workloads.ts';

const UID_LABEL = 'batch.kubernetes.io/controller-uid';
const NAME_LABEL = 'batch.kubernetes.io/job-name';
const OLD_UID_LABEL = 'controller-uid';
const OLD_NAME_LABEL = 'job-name';
const NO_LIMIT = 2 ** 31 - 1;
// The controller appends eleven characters to create a Job's name, which is limited to 63.
const LONGEST_CRON_NAME = 52;

export const job: Behaviour = behaviour({
  drop: (draft) => dropFromTemplate(specOf<JobSpec>(draft).template),
  countsGeneration: true,
  default(draft) {
    const spec = specOf<JobSpec>(draft);
    defaultJobSpec(spec);
    const labels = spec.template?.metadata?.labels;
    if (labels && Object.keys(draft.metadata.labels ?? {}).length === 0) draft.metadata.labels = { ...labels };
  },
  prepare(draft, old, context) {
    startsWith(() => ({}))(draft, old, context);
    if (old === undefined && specOf<JobSpec>(draft).manualSelector !== true) generateSelector(draft);
  },
  validate(object, old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as JobSpec;
    const causes = [
      ...jobSpecCauses('spec', spec),
      ...generatedSelectorCauses(object, spec),
      ...podNameCauses(object.metadata.name ?? '', spec),
    ];
    return old === undefined ? causes : [...causes, ...jobUpdateCauses(spec, (old.spec ?? {}) as JobSpec)];
  },
  selectableFields: { 'status.successful': (object) => textAt('status', 'succeeded')(object) || '0' },
});

function defaultJobSpec(spec: JobSpec): void {
  spec.template ??= {};
  defaultTemplate(spec.template);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : NO_LIMIT;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  spec.manualSelector ??= false;
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
}

function generateSelector(draft: Draft): void {
  const spec = specOf<JobSpec>(draft);
  const template: PodTemplate = spec.template ?? {};
  const { uid = '', name = '' } = draft.metadata;
  const labels: Record<string, string> = { ...template.metadata?.labels };
  // A value set by the user is not overwritten: validation then reports that the label is not the generated one.
  for (const [label, value] of [
    [OLD_UID_LABEL, uid],
    [UID_LABEL, uid],
    [OLD_NAME_LABEL, name],
    [NAME_LABEL, name],
  ] as const) {
    labels[label] ??= value;
  }
  template.metadata = { ...template.metadata, labels };
  spec.template = template;
  spec.selector = {
    ...spec.selector,
    matchLabels: { ...spec.selector?.matchLabels, [UID_LABEL]: spec.selector?.matchLabels?.[UID_LABEL] ?? uid },
  };
  // The Job gets the labels of its Pods if its own labels were derived from them.
  const own = draft.metadata.labels;
  if (own === undefined || isSubset(own, labels)) draft.metadata.labels = { ...labels };
}

const isSubset = (part: Readonly<Record<string, string>>, whole: Readonly<Record<string, string>>): boolean =>
  Object.keys(part).every((key) => whole[key] === part[key]);

function jobSpecCauses(field: string, spec: JobSpec): Causes {
  const causes: FieldCause[] = [
    ...nonNegative(`${field}.parallelism`, spec.parallelism),
    ...nonNegative(`${field}.completions`, spec.completions),
    ...nonNegative(`${field}.activeDeadlineSeconds`, spec.activeDeadlineSeconds),
    ...nonNegative(`${field}.backoffLimit`, spec.backoffLimit),
    ...nonNegative(`${field}.ttlSecondsAfterFinished`, spec.ttlSecondsAfterFinished),
    ...nonNegative(`${field}.backoffLimitPerIndex`, spec.backoffLimitPerIndex),
  ];
  if (spec.completionMode !== undefined && !['NonIndexed', 'Indexed'].includes(spec.completionMode)) {
    causes.push(unsupportedValue(`${field}.completionMode`, spec.completionMode, ['NonIndexed', 'Indexed']));
  }
  const isPlain = (spec.completionMode ?? 'NonIndexed') === 'NonIndexed';
  if (spec.maxFailedIndexes !== undefined) {
    const at = `${field}.maxFailedIndexes`;
    causes.push(...nonNegative(at, spec.maxFailedIndexes));
    if (isPlain) {
      causes.push(invalidValue(at, spec.maxFailedIndexes, 'requires indexed completion mode'));
    }
    if (spec.backoffLimitPerIndex === undefined) {
      causes.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
    }
  }
  if (spec.backoffLimitPerIndex !== undefined && isPlain) {
    const at = `${field}.backoffLimitPerIndex`;
    causes.push(invalidValue(at, spec.backoffLimitPerIndex, 'requires indexed completion mode'));
  }
  if (spec.managedBy !== undefined) causes.push(...domainPath(`${field}.managedBy`, spec.managedBy));
  if (spec.completionMode === 'Indexed' && spec.completions === undefined) {
    causes.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  }
  if (spec.podReplacementPolicy !== undefined) {
    const policies = ['Failed', 'TerminatingOrFailed'];
    causes.push(...oneOf(`${field}.podReplacementPolicy`, spec.podReplacementPolicy, policies));
  }
  causes.push(...podTemplateCauses(`${field}.template`, spec.template));
  return [...causes, ...restartCauses(`${field}.template.spec.restartPolicy`, spec.template)];
}

/** `acme.io/foo`. */
function domainPath(field: string, value: string): Causes {
  if (value === '') return [required(field)];
  const slash = value.indexOf('/');
  const isPath = slash > 0 && slash < value.length - 1;
  return isPath
    ? dnsSubdomain(field, value.slice(0, slash))
    : [invalidValue(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
}

function restartCauses(field: string, template: PodTemplate | undefined): Causes {
  const policy = template?.spec?.restartPolicy ?? '';
  // An absent value has been defaulted to "Always", so it is reported as missing.
  if (policy === '' || policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')];
  return policy === 'OnFailure' || policy === 'Never' ? [] : [unsupportedValue(field, policy, ['OnFailure', 'Never'])];
}

function generatedSelectorCauses({ metadata }: KubeObject, spec: JobSpec): Causes {
  const { selector, template } = spec;
  if (selector === undefined) {
    const why = '`selector` does not match template `labels`';
    return [
      required('spec.selector'),
      invalidValue('spec.template.metadata.labels', shownLabels(template?.metadata?.labels), why),
    ];
  }
  const causes: FieldCause[] = [...selectorCauses('spec.selector', selector)];
  const labels = template?.metadata?.labels ?? {};
  const isValid = causes.length === 0;
  if (isValid && !matchesLabels(selector as LabelSelector, labels)) {
    const shown = shownLabels(template?.metadata?.labels);
    causes.push(invalidValue('spec.template.metadata.labels', shown, '`selector` does not match template `labels`'));
  }
  if (spec.manualSelector === true) return causes;
  for (const [label, value] of [
    [UID_LABEL, metadata.uid],
    [NAME_LABEL, metadata.name ?? ''],
  ] as const) {
    if (labels[label] === undefined)
      causes.push(required(`spec.template.metadata.labels[${label}]`, `must be '${value}'`));
    else if (labels[label] !== value) {
      causes.push(invalidValue(`spec.template.metadata.labels[${label}]`, labels, `must be '${value}'`));
    }
  }
  const generated = { matchLabels: { [UID_LABEL]: metadata.uid } };
  const generatedOfOld = { matchLabels: { [OLD_UID_LABEL]: metadata.uid } };
  if (isValid && !deepEqual(selector, generated) && !deepEqual(selector, generatedOfOld)) {
    causes.push(invalidValue('spec.selector', shownSelector(selector), '`selector` not auto-generated'));
  }
  return causes;
}

/** The Pods of an indexed Job are named after it; the last one has the longest name. */
function podNameCauses(name: string, { completionMode, completions = 0 }: JobSpec): Causes {
  if (completionMode !== 'Indexed' || completions <= 0) return [];
  const longest = `${name}-${completions - 1}`;
  return dnsLabelErrors(longest).length === 0
    ? []
    : [invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`)];
}

function jobUpdateCauses(spec: JobSpec, old: JobSpec): Causes {
  const causes: FieldCause[] = [];
  const fixed = (field: 'completions' | 'selector' | 'template' | 'completionMode' | 'backoffLimitPerIndex') => {
    if (deepEqual(spec[field], old[field])) return;
    causes.push(invalidValue(`spec.${field}`, spec[field] ?? null, 'field is immutable'));
  };
  // An indexed Job may be resized together with its parallelism.
  const isResized =
    spec.completionMode === 'Indexed' && spec.completions !== undefined && spec.parallelism === spec.completions;
  if (!isResized) fixed('completions');
  fixed('selector');
  fixed('template');
  fixed('completionMode');
  fixed('backoffLimitPerIndex');
  return causes;
}

// ---- CronJob

interface CronJobSpec {
  schedule?: string;
  timeZone?: string;
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: string;
  suspend?: boolean;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate?: { metadata?: object; spec?: JobSpec };
}

export const cronJob: Behaviour = behaviour({
  drop: (draft) => dropFromTemplate(specOf<CronJobSpec>(draft).jobTemplate?.spec?.template),
  countsGeneration: true,
  nameError: (name, isPrefix) =>
    subdomainName(name, isPrefix) ??
    (name.length > LONGEST_CRON_NAME ? `must be no more than ${LONGEST_CRON_NAME} characters` : undefined),
  default(draft) {
    const spec = specOf<CronJobSpec>(draft);
    spec.concurrencyPolicy ||= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    spec.jobTemplate ??= {};
    spec.jobTemplate.metadata ??= {};
    spec.jobTemplate.spec ??= {};
    // Only the Pods of the template are defaulted; its Jobs are defaulted when they are created.
    spec.jobTemplate.spec.template ??= {};
    defaultTemplate(spec.jobTemplate.spec.template);
  },
  prepare: startsWith(() => ({})),
  validate(object, _old, { subresource }) {
    if (subresource !== undefined) return [];
    const spec = (object.spec ?? {}) as CronJobSpec;
    const { schedule = '', timeZone, jobTemplate } = spec;
    const error = schedule === '' ? undefined : cronScheduleError(schedule, timeZone !== undefined);
    return [
      ...(schedule === '' ? [required('spec.schedule')] : []),
      ...(error === undefined ? [] : [invalidValue('spec.schedule', schedule, error)]),
      ...nonNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds),
      ...timeZoneCauses(timeZone),
      ...oneOf('spec.concurrencyPolicy', spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace']),
      ...nonNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit),
      ...nonNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit),
      ...jobSpecCauses('spec.jobTemplate.spec', jobTemplate?.spec ?? {}),
      ...(jobTemplate?.spec?.manualSelector
        ? [unsupportedValue('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false'])]
        : []),
    ];
  },
});

function timeZoneCauses(timeZone: string | undefined): Causes {
  if (timeZone === undefined) return [];
  const field = 'spec.timeZone';
  if (timeZone === '') return [invalidValue(field, timeZone, 'timeZone must be nil or non-empty string')];
  if (timeZone.toLowerCase() === 'local') {
    return [
      invalidValue(
        field,
        timeZone,
        'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ),
    ];
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return [];
  } catch {
    return [invalidValue(field, timeZone, `unknown time zone ${timeZone}`)];
  }
}
