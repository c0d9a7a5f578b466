// Events: one stored kind in two groups. The core form is stored; events.k8s.io serves the same objects with its own
// field names.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { invalidValue, required } from '../../api/status.ts';
import { qualifiedNameErrors } from '../../base/names.ts';
import type { Behaviour, ServedVersion } from '../registry.ts';
import { behaviour, pathName, textAt } from './behaviour.ts';
import { type Causes, complaints } from './field-checks.ts';

/** Field name in events.k8s.io/v1, field name in v1. Other fields have the same name in both. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['reportingController', 'reportingComponent'],
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];
const toCore = new Map(RENAMED);
const fromCore = new Map(RENAMED.map(([events, core]) => [core, events]));

const renamed = (object: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject => {
  const result: Record<string, unknown> = {};
  for (const field of Object.keys(object)) {
    if (field !== '__proto__') result[names.get(field) ?? field] = object[field];
  }
  return { ...result, apiVersion } as unknown as KubeObject;
};

/** Between events.k8s.io/v1 and the stored form. */
export const eventConversion: NonNullable<ServedVersion['convert']> = {
  toStored: (object) => renamed(object, toCore, 'v1'),
  fromStored: (object) => renamed(object, fromCore, 'events.k8s.io/v1'),
};

const sourceOf = (object: KubeObject): string =>
  textAt('source', 'component')(object) || textAt('reportingComponent')(object);

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

const referenceFields = (prefix: string): Record<string, (object: KubeObject) => string> =>
  Object.fromEntries(REFERENCE.map((field) => [`${prefix}.${field}`, textAt('involvedObject', field)]));

const shared = { createOnUpdate: true, nameError: pathName } as const;

export const coreEvent: Behaviour = behaviour({
  ...shared,
  validate: (object) => namespaceCauses(object),
  selectableFields: {
    ...referenceFields('involvedObject'),
    reason: textAt('reason'),
    reportingComponent: textAt('reportingComponent'),
    source: sourceOf,
    type: textAt('type'),
  },
});

/** The newer group has stricter validation. It receives the stored form, like all behaviors. */
export const newEvent: Behaviour = behaviour({
  ...shared,
  validate: (object, old) => [...namespaceCauses(object), ...(old === undefined ? strictCauses(object) : [])],
  selectableFields: {
    ...referenceFields('regarding'),
    reason: textAt('reason'),
    reportingController: textAt('reportingComponent'),
    type: textAt('type'),
  },
});

/**
 * An Event must be in the namespace of its object; for a cluster-scoped object in `default`. Events of the newer form,
 * which have an eventTime, may be elsewhere, and those of cluster-scoped objects in `kube-system`.
 */
function namespaceCauses(object: KubeObject): Causes {
  const about = textAt('involvedObject', 'namespace')(object);
  const { namespace = '' } = object.metadata;
  const isNewer = textAt('eventTime')(object) !== '';
  const fits =
    about === ''
      ? namespace === '' || namespace === 'default' || (isNewer && namespace === 'kube-system')
      : about === namespace || isNewer;
  return fits ? [] : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
}

const LONGEST_WORD = 128;
const LONGEST_NOTE = 1024;

function strictCauses(object: KubeObject): Causes {
  const causes: FieldCause[] = [];
  const text = (field: string) => textAt(field)(object);
  if (text('eventTime') === '') causes.push(required('eventTime'));
  const type = text('type');
  if (type !== 'Normal' && type !== 'Warning') causes.push(invalidValue('type', type, `has invalid value: ${type}`));
  if (text('eventTime') === '') return causes;
  const controller = text('reportingComponent');
  if (controller === '') causes.push(required('reportingController'));
  else causes.push(...complaints('reportingController', controller, qualifiedNameErrors(controller)));
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const value = text(field);
    if (value === '') causes.push(required(field));
    else if (value.length > LONGEST_WORD) {
      causes.push(invalidValue(field, '', `can have at most ${LONGEST_WORD} characters`));
    }
  }
  if (text('message').length > LONGEST_NOTE) {
    causes.push(invalidValue('message', '', `can have at most ${LONGEST_NOTE} characters`));
  }
  return causes;
}
