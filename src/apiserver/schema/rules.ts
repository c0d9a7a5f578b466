// TEMPORARY: CEL follows in the next commit.
import type { FieldCause } from '../../api/kind.ts';
import type { SchemaNode } from './node.ts';

export interface Rules {
  validate(value: unknown, old: unknown): readonly FieldCause[];
}

export const rulesOf = (_node: SchemaNode): Rules | undefined => undefined;
