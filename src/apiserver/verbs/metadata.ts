// Validation of metadata for every kind.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { forbiddenField, invalidValue, required } from '../../api/status.ts';
import { deepEqual } from '../../base/json.ts';
import { labelValueErrors, qualifiedNameErrors } from '../../base/names.ts';
import type { ServedResource } from '../registry.ts';

const LONGEST_ANNOTATIONS = 256 * 1024;
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

export function validateMetadata(resource: ServedResource, object: KubeObject): FieldCause[] {
  const { metadata } = object;
  const causes: FieldCause[] = [];
  const { name = '', generateName = '' } = metadata;
  if (generateName !== '') {
    const prefixError = resource.behaviour.nameError(generateName, true);
    if (prefixError !== undefined) causes.push(invalidValue('metadata.generateName', generateName, prefixError));
  }
  const nameError = name === '' ? undefined : resource.behaviour.nameError(name, false);
  if (name === '') causes.push(required('metadata.name', 'name or generateName is required'));
  if (nameError !== undefined) causes.push(invalidValue('metadata.name', name, nameError));
  if ((metadata.generation ?? 0) < 0) {
    causes.push(invalidValue('metadata.generation', metadata.generation, 'must be greater than or equal to 0'));
  }
  if (metadata.labels) causes.push(...labelCauses('metadata.labels', metadata.labels));
  if (metadata.annotations) causes.push(...annotationCauses(metadata.annotations));
  if (metadata.ownerReferences) causes.push(...ownerCauses(metadata.ownerReferences));
  metadata.finalizers?.forEach((finalizer, index) => {
    const field = `metadata.finalizers[${index}]`;
    // A real server reports the error in the name without the index, and then the missing domain.
    for (const error of qualifiedNameErrors(finalizer)) {
      causes.push(invalidValue('metadata.finalizers', finalizer, error));
    }
    if (!resource.behaviour.plainFinalizers && !finalizer.includes('/') && !STANDARD_FINALIZERS.has(finalizer)) {
      causes.push(invalidValue(field, finalizer, NOT_QUALIFIED));
    }
  });
  return causes;
}

const NOT_QUALIFIED = 'name is neither a standard finalizer name nor is it fully qualified';

/** Finalizers in the spec of a namespace: errors have no index, and both are reported at once. */
export const specFinalizerCauses = (field: string, finalizers: readonly string[]): readonly FieldCause[] =>
  finalizers.flatMap((finalizer) => [
    ...qualifiedNameErrors(finalizer).map((error) => invalidValue(field, finalizer, error)),
    ...(finalizer.includes('/') || finalizer === 'kubernetes' ? [] : [invalidValue(field, finalizer, NOT_QUALIFIED)]),
  ]);

function labelCauses(field: string, labels: Readonly<Record<string, string>>): FieldCause[] {
  const causes: FieldCause[] = [];
  for (const key in labels) {
    for (const error of qualifiedNameErrors(key)) causes.push(invalidValue(field, key, error));
    for (const error of labelValueErrors(labels[key] as string)) causes.push(invalidValue(field, labels[key], error));
  }
  return causes;
}

function annotationCauses(annotations: Readonly<Record<string, string>>): FieldCause[] {
  const causes: FieldCause[] = [];
  let size = 0;
  for (const key in annotations) {
    // Annotation keys may have upper-case prefixes; otherwise the rules of label keys apply.
    for (const error of qualifiedNameErrors(key.toLowerCase())) {
      causes.push(invalidValue('metadata.annotations', key, error));
    }
    size += key.length + (annotations[key] as string).length;
  }
  if (size > LONGEST_ANNOTATIONS) {
    const message = `Too long: may not be more than ${LONGEST_ANNOTATIONS} bytes`;
    causes.push({ reason: 'FieldValueTooLong', field: 'metadata.annotations', message });
  }
  return causes;
}

function ownerCauses(owners: NonNullable<ObjectMeta['ownerReferences']>): FieldCause[] {
  const causes: FieldCause[] = [];
  const controllers: string[] = [];
  for (const owner of owners) {
    if (!owner.apiVersion) {
      causes.push(invalidValue('metadata.ownerReferences.apiVersion', '', 'version must not be empty'));
    }
    if (!owner.kind) causes.push(invalidValue('metadata.ownerReferences.kind', '', 'must not be empty'));
    if (!owner.name) causes.push(invalidValue('metadata.ownerReferences.name', '', 'must not be empty'));
    if (!owner.uid) causes.push(invalidValue('metadata.ownerReferences.uid', '', 'must not be empty'));
    if (owner.controller) controllers.push(owner.name);
  }
  if (controllers.length > 1) {
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${controllers[0]} and ${controllers[1]}`;
    causes.push(invalidValue('metadata.ownerReferences', owners, why));
  }
  return causes;
}

/** Immutable metadata of an update; the draft already has the old object's system fields. */
export function validateMetadataUpdate(object: KubeObject, old: KubeObject): FieldCause[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const known = old.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [forbiddenField('metadata.finalizers', why)];
}

/** An empty map is not stored. */
export function hasAny(map: Readonly<Record<string, string>> | undefined): boolean {
  for (const _key in map) return true;
  return false;
}

/** True if the two differ in nothing that a client can change. */
export function isSame(object: KubeObject, old: KubeObject): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field === 'metadata') {
      const { resourceVersion: _new, ...now } = object.metadata;
      const { resourceVersion: _old, ...before } = old.metadata;
      if (!deepEqual(now, before)) return false;
    } else if (!deepEqual(object[field], old[field])) return false;
  }
  return true;
}
