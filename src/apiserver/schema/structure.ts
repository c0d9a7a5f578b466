// Everything that a schema does to objects: defaulting, pruning, decoding, validation.
//
// Guarantee: one Structure per schema value and process, so a thousand clusters with the same schema share its compiled
// form. Start reading here; each step has its own file in this folder.
import type { FieldCause } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import { invalidValue } from '../../api/status.ts';
import type { Draft, Structure } from '../registry.ts';
import { builtinDecodeError, customDecodeError } from './decode.ts';
import { applyDefaults, type Nulls } from './default.ts';
import { validateEmbedded } from './embedded.ts';
import { validateListTypes } from './list-types.ts';
import { nodeOf, type Resolve, type SchemaNode } from './node.ts';
import { pruneUnknown } from './prune.ts';
import { rulesOf } from './rules.ts';
import { validateSchema } from './validate.ts';

export interface StructureOptions {
  /** Resolves a `$ref`; only built-in schemas have them. */
  readonly resolve?: Resolve;
  /** A built-in kind: decoded into types instead of validated by its schema. */
  readonly builtin?: boolean;
}

const custom = new WeakMap<Schema, Structure>();
const builtin = new WeakMap<Schema, Structure>();

export function structureOf(schema: Schema, options: StructureOptions = {}): Structure {
  const cache = options.builtin ? builtin : custom;
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const node = nodeOf(schema, options.resolve);
  const structure = options.builtin ? builtinStructure(node) : customStructure(node);
  cache.set(schema, structure);
  return structure;
}

const builtinStructure = (node: SchemaNode): Structure => ({
  default: (draft, nulls) => applyDefaults(draft, node, nulls),
  prune: (draft) => pruneUnknown(draft, node, { builtin: true }),
  decodeError: (draft) => builtinDecodeError(draft, node, draft.kind),
  validate: () => [],
});

const customStructure = (node: SchemaNode): Structure => ({
  default: (draft: Draft, nulls?: Nulls) => applyDefaults(draft, node, nulls),
  prune: (draft: Draft) => pruneUnknown(draft, node, { builtin: false }),
  decodeError: (draft: Draft) => customDecodeError(draft, node),
  validate: (object, old) => validateCustom(object, node, old),
});

function validateCustom(object: KubeObject, node: SchemaNode, old: KubeObject | undefined): readonly FieldCause[] {
  const causes = validateSchema(object, node, old);
  if (node.holdsEmbedded) causes.push(...validateEmbedded(object, node));
  if (node.holdsListType) {
    const repeated = validateListTypes(object, node);
    // A list that already had duplicates may keep them.
    if (repeated.length > 0 && (old === undefined || validateListTypes(old, node).length === 0))
      causes.push(...repeated);
  }
  const rules = rulesOf(node);
  if (rules === undefined) return causes;
  if (causes.some(({ reason }) => reason !== undefined && STOPS_RULES.has(reason))) {
    causes.push(invalidValue('<nil>', null, RULES_SKIPPED));
    return causes;
  }
  causes.push(...rules.validate(object, old));
  return causes;
}

// Errors that can make rules fail. Other errors leave the shape of the object intact.
const STOPS_RULES: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const RULES_SKIPPED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
