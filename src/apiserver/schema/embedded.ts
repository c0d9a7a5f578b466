// Embedded Kubernetes objects: each has an apiVersion and a kind, and metadata that would be valid by itself.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required } from '../../api/status.ts';
import { isObject } from '../../base/json.ts';
import { dns1035LabelErrors, labelValueErrors, pathSegmentErrors, qualifiedNameErrors } from '../../base/names.ts';
import type { SchemaNode } from './node.ts';
import { bracketed, field, index, key, type Path } from './path.ts';

/** The root is not an embedded object: the verbs have checked it. */
export function validateEmbedded(value: unknown, node: SchemaNode): readonly FieldCause[] {
  if (!node.holdsEmbedded) return [];
  const causes: FieldCause[] = [];
  walk(value, node, undefined, causes);
  return causes;
}

function walk(value: unknown, node: SchemaNode | undefined, path: Path | undefined, causes: FieldCause[]): void {
  if (node === undefined || typeof value !== 'object' || value === null || !node.holdsEmbedded) return;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) walk(value[at], node.items, index(path, at), causes);
    return;
  }
  const object = value as Readonly<Record<string, unknown>>;
  if (node.isEmbedded) checkWhole(object, path, causes);
  const { properties, additional } = node;
  for (const name of Object.keys(object)) {
    const known = properties.get(name);
    if (known !== undefined) walk(object[name], known, field(path, name), causes);
    else walk(object[name], additional, key(path, name), causes);
  }
}

function checkWhole(object: Readonly<Record<string, unknown>>, path: Path | undefined, causes: FieldCause[]): void {
  const at = (name: string): string => bracketed(field(path, name));
  const { apiVersion, kind, metadata } = object;
  if (apiVersion === undefined) causes.push(required(at('apiVersion')));
  if (kind === undefined) causes.push(required(at('kind')));
  if (apiVersion !== undefined) {
    if (typeof apiVersion !== 'string') causes.push(invalidValue(at('apiVersion'), apiVersion, 'must be a string'));
    else if (apiVersion === '') causes.push(invalidValue(at('apiVersion'), apiVersion, 'must not be empty'));
    else if (apiVersion.split('/').length > 2) {
      causes.push(invalidValue(at('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
    }
  }
  if (kind !== undefined) {
    if (typeof kind !== 'string') causes.push(invalidValue(at('kind'), kind, 'must be a string'));
    else if (kind === '') causes.push(invalidValue(at('kind'), kind, 'must not be empty'));
    else {
      const errors = dns1035LabelErrors(kind.toLowerCase());
      const why = `may have mixed case, but should otherwise match: ${errors.join(',')}`;
      if (errors.length > 0) causes.push(invalidValue(at('kind'), kind, why));
    }
  }
  if (isObject(metadata)) checkMetadata(metadata, field(path, 'metadata'), causes);
}

function checkMetadata(metadata: Readonly<Record<string, unknown>>, path: Path, causes: FieldCause[]): void {
  const { name, generateName, namespace, labels, annotations, ownerReferences } = metadata;
  const say = (child: string, value: unknown, errors: readonly string[]): void => {
    for (const error of errors) causes.push(invalidValue(bracketed(field(path, child)), value, error));
  };
  if (typeof generateName === 'string' && generateName !== '') {
    say('generateName', generateName, pathSegmentErrors(generateName, true));
  }
  if (typeof name === 'string' && name !== '') say('name', name, pathSegmentErrors(name));
  if (typeof namespace === 'string' && namespace !== '') say('namespace', namespace, pathSegmentErrors(namespace));
  if (isObject(labels)) {
    for (const [label, value] of Object.entries(labels)) {
      say('labels', label, qualifiedNameErrors(label));
      say('labels', value, labelValueErrors(String(value)));
    }
  }
  if (isObject(annotations)) {
    for (const name of Object.keys(annotations)) say('annotations', name, qualifiedNameErrors(name.toLowerCase()));
  }
  for (const owner of Array.isArray(ownerReferences) ? ownerReferences : []) {
    for (const part of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      const value: unknown = isObject(owner) ? (owner[part] ?? '') : '';
      const why = part === 'apiVersion' ? 'version must not be empty' : 'must not be empty';
      if (value === '') say(`ownerReferences.${part}`, value, [why]);
    }
  }
}
