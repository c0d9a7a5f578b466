// The metadata that every object has, as a schema: custom kinds are pruned and decoded by it, whatever their own schema says of
// metadata.
import type { Schema } from '../../api/schema.ts';
import { isObject } from '../../base/json.ts';
import { nodeOf, type SchemaNode } from './node.ts';

const text: Schema = { type: 'string' };
const time: Schema = { type: 'string', format: 'date-time' };
const texts: Schema = { type: 'object', additionalProperties: text };

const types: Readonly<Record<string, Schema>> = {
  OwnerReference: {
    type: 'object',
    properties: {
      apiVersion: text,
      kind: text,
      name: text,
      uid: text,
      controller: { type: 'boolean' },
      blockOwnerDeletion: { type: 'boolean' },
    },
  },
  ManagedFieldsEntry: {
    type: 'object',
    properties: {
      manager: text,
      operation: text,
      apiVersion: text,
      time,
      fieldsType: text,
      fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      subresource: text,
    },
  },
  ObjectMeta: {
    type: 'object',
    properties: {
      name: text,
      generateName: text,
      namespace: text,
      selfLink: text,
      uid: text,
      resourceVersion: text,
      generation: { type: 'integer', format: 'int64' },
      creationTimestamp: time,
      deletionTimestamp: time,
      deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
      labels: texts,
      annotations: texts,
      ownerReferences: { type: 'array', items: { $ref: 'OwnerReference' } },
      finalizers: { type: 'array', items: text },
      managedFields: { type: 'array', items: { $ref: 'ManagedFieldsEntry' } },
    },
  },
};

const reference: Schema = { $ref: 'ObjectMeta' };

export const objectMetaNode = (): SchemaNode => nodeOf(reference, (name) => types[name] ?? {});

/** The three fields that a whole object has, whatever its schema says. */
export const isTypeOrObjectMeta = (name: string): boolean =>
  name === 'apiVersion' || name === 'kind' || name === 'metadata';

/**
 * Metadata of an object inside another one, as a server writes it back: it is read into its own type and written again, which leaves
 * out whatever says nothing.
 */
export function settleMetadata(object: Record<string, unknown>): void {
  const metadata = object['metadata'];
  if (metadata === null) object['metadata'] = {};
  if (!isObject(metadata)) return;
  const fields = metadata as Record<string, unknown>;
  for (const name of Object.keys(fields)) if (saysNothing(name, fields[name])) delete fields[name];
}

function saysNothing(name: string, value: unknown): boolean {
  if (value === null || value === '') return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return value === 0 && name === 'generation';
}
