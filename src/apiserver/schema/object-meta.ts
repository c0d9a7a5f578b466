// The schema of metadata: custom kinds are pruned and decoded with it, whatever their own schema defines for metadata.
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

/** The three fields of every complete object, whatever its schema. */
export const isTypeOrObjectMeta = (name: string): boolean =>
  name === 'apiVersion' || name === 'kind' || name === 'metadata';

/**
 * Normalizes the metadata of an embedded object as a real server does, which decodes and encodes it and so drops empty
 * values.
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
