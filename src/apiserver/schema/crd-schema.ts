// Validation of a CRD's schema: whether it is structural, its extensions are valid, its defaults match it, and its
// rules compile.
import type { FieldCause } from '../../api/kind.ts';
import type { CelRule, Schema } from '../../api/schema.ts';
import { duplicate, forbiddenField, invalidValue, required, unsupportedValue } from '../../api/status.ts';
import { deepEqual, isObject, mutableCopy } from '../../base/json.ts';
import { declaredType } from './cel/declare.ts';
import { compileRule } from './cel/rule.ts';
import type { CelType } from './cel/type.ts';
import { validateEmbedded } from './embedded.ts';
import { nodeOf, SchemaNode } from './node.ts';
import { isTypeOrObjectMeta } from './object-meta.ts';
import { pruneUnknown } from './prune.ts';
import { rulesOf } from './rules.ts';
import { structuralCauses } from './structural.ts';
import { validateSchema } from './validate.ts';

export function schemaCauses(schema: Schema, path: string, hasStatus: boolean): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  if (hasStatus) checkRoot(schema, path, causes);
  if (schema.nullable === true) causes.push(forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root'));
  const structural = structuralCauses(schema, path);
  const defaults = structural.length > 0 ? structural : defaultCauses(nodeOf(schema, undefined), path, true);
  causes.push(...defaults);
  const walk: Walk = { schemaCauses: [], ruleCauses: [], checksRules: defaults.length === 0 };
  checkSchema(schema, nodeOf(schema, undefined), path, { isRoot: true }, walk);
  return [...causes, ...walk.schemaCauses, ...walk.ruleCauses];
}

/** With a status subresource, the root may have only fields that also apply when the status is validated alone. */
const AT_ROOT: ReadonlySet<string> = new Set(
  'description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations'.split(
    ' ',
  ),
);
const AT_ROOT_TEXT =
  'only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled';

function checkRoot(schema: Schema, path: string, causes: FieldCause[]): void {
  if (schema.type !== undefined && schema.type !== 'object') {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    causes.push(invalidValue(`${path}.type`, schema.type, why));
    return;
  }
  const isAllowed = ([name, value]: [string, unknown]): boolean => AT_ROOT.has(name) || value === false;
  if (!Object.entries(schema).every(isAllowed)) causes.push(invalidValue(path, schema, AT_ROOT_TEXT));
}

// ---- the schema itself

interface Walk {
  readonly schemaCauses: FieldCause[];
  readonly ruleCauses: FieldCause[];
  readonly checksRules: boolean;
}

interface Place {
  readonly isRoot?: boolean;
  /** Inside apiVersion, kind or metadata of a complete object. */
  readonly insideMeta?: boolean;
  /** Why a default is not allowed here. */
  readonly noDefault?: string;
  /** The first part of the path that does not correlate with its old value. */
  readonly uncorrelated?: string;
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** `node` is undefined inside conditions, where rules are not allowed. */
function checkSchema(schema: Schema, node: SchemaNode | undefined, path: string, place: Place, walk: Walk): void {
  const { schemaCauses: causes } = walk;
  const before = causes.length;
  const raw = schema as Readonly<Record<string, unknown>>;
  const { type, properties = {}, additionalProperties } = schema;
  if (type !== undefined && !TYPES.includes(type)) causes.push(unsupportedValue(`${path}.type`, type, TYPES));
  if (schema.default !== undefined && place.noDefault !== undefined) {
    causes.push(forbiddenField(`${path}.default`, `must not be set ${place.noDefault}`));
  }
  for (const name of UNSUPPORTED) {
    if (raw[name] !== undefined) causes.push(forbiddenField(`${path}.${name}`, `${name} is not supported`));
  }
  if (Array.isArray(raw['items'])) {
    causes.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (place.insideMeta && schema['x-kubernetes-embedded-resource']) {
    causes.push(forbiddenField(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbiddenField(`${path}.uniqueItems`, why));
  }

  if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0) {
    const why = 'additionalProperties and properties are mutual exclusive';
    causes.push(forbiddenField(`${path}.additionalProperties`, why));
  }
  const { isRoot, ...inherited } = place;
  if (typeof additionalProperties === 'object') {
    const inMeta = place.insideMeta ? { noDefault: 'inside additionalProperties applying to object metadata' } : {};
    checkSchema(
      additionalProperties,
      node?.additional,
      `${path}.additionalProperties`,
      { ...inherited, ...inMeta },
      walk,
    );
  }
  for (const [name, property] of Object.entries(properties)) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource']) && isTypeOrObjectMeta(name);
    const meta = isMeta ? { insideMeta: true, ...(isRoot ? { noDefault: `in top-level ${name}` } : {}) } : {};
    checkSchema(property, node?.properties.get(name), `${path}.properties[${name}]`, { ...inherited, ...meta }, walk);
  }
  const conditions: (readonly [string, Schema])[] = schema.not === undefined ? [] : [['not', schema.not]];
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    conditions.push(...(schema[name] ?? []).map((part, at) => [`${name}[${at}]`, part] as const));
  }
  for (const [name, part] of conditions) checkSchema(part, undefined, `${path}.${name}`, inherited, walk);
  if (isObject(schema.items)) {
    const isMapList = schema['x-kubernetes-list-type'] === 'map';
    const lost = isMapList || place.uncorrelated !== undefined ? {} : { uncorrelated: path };
    checkSchema(schema.items, node?.items, `${path}.items`, { ...inherited, ...lost }, walk);
  }
  checkExtensions(schema, path, causes);
  for (const [at, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    checkRuleFields(rule, schema, `${path}.x-kubernetes-validations[${at}]`, causes);
  }
  // With an invalid schema, errors in its rules would be misleading.
  if (causes.length > before || !walk.checksRules || node === undefined) return;
  const self = declaredType(node, isRoot === true || node.isEmbedded);
  if (self === undefined) return;
  for (const [at, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    checkRule(rule, self, `${path}.x-kubernetes-validations[${at}]`, place, walk.ruleCauses);
  }
}

// ---- extensions

function checkExtensions(schema: Schema, path: string, causes: FieldCause[]): void {
  const { type, items } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const mapType = schema['x-kubernetes-map-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = (name: string): string => `${path}.${name}`;
  const needsType = (wanted: string, extension: string): void => {
    const why = `must be ${wanted} if ${extension} is specified`;
    causes.push(type === undefined ? required(at('type'), why) : invalidValue(at('type'), type, why));
  };

  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    causes.push(invalidValue(at('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  if (mapType !== undefined) {
    if (type !== 'object') needsType('object', 'x-kubernetes-map-type');
    if (mapType !== 'atomic' && mapType !== 'granular') {
      causes.push(unsupportedValue(at('x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
    }
  }
  if (listType !== undefined) {
    if (type !== 'array') needsType('array', 'x-kubernetes-list-type');
    else if (listType === 'set' && items !== undefined) checkSetItems(items, path, causes);
    if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
      causes.push(unsupportedValue(at('x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']));
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const where = at('x-kubernetes-list-type');
    causes.push(listType === undefined ? required(where, why) : invalidValue(where, listType, why));
  }
  if (listType === 'map') checkMapList(schema, keys, path, causes);
  if ((listType === 'set' || listType === 'map') && items?.nullable === true) {
    causes.push(forbiddenField(at('items.nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
}

function checkSetItems(items: Schema, path: string, causes: FieldCause[]): void {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    causes.push(invalidValue(`${path}.items.x-kubernetes-list-type`, listType, why));
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    causes.push(invalidValue(`${path}.items.x-kubernetes-map-type`, listType ?? null, why));
  }
}

function checkMapList(schema: Schema, keys: readonly string[], path: string, causes: FieldCause[]): void {
  const { items } = schema;
  const where = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) causes.push(required(where, 'must not be empty if x-kubernetes-list-type is map'));
  if (items === undefined) {
    causes.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
    return;
  }
  if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    causes.push(invalidValue(`${path}.items.type`, items.type ?? '', why));
    return;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = Object.hasOwn(items.properties ?? {}, key) ? items.properties?.[key] : undefined;
    const at = `${path}.items.properties[${key}]`;
    if (property === undefined) {
      causes.push(invalidValue(where, keys, 'entries must all be names of item properties'));
    } else {
      if (property.type === 'array' || property.type === 'object') {
        const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        causes.push(invalidValue(`${at}.type`, items.type, why));
      }
      if (property.default === undefined && !(items.required ?? []).includes(key)) {
        const why =
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
        causes.push(required(`${at}.default`, why));
      }
      if (property.nullable === true) {
        const why = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
        causes.push(forbiddenField(`${at}.nullable`, why));
      }
    }
    if (seen.has(key)) causes.push(invalidValue(where, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
}

// ---- rules

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

function checkRuleFields(rule: CelRule, schema: Schema, path: string, causes: FieldCause[]): void {
  const text = rule.rule.trim();
  const message = rule.message?.trim() ?? '';
  if (text === '') causes.push(required(`${path}.rule`, 'rule is not specified'));
  else if (rule.message && message === '') {
    causes.push(invalidValue(`${path}.message`, rule.message, 'must be non-empty if specified'));
  } else if (hasLineBreak(message)) {
    causes.push(invalidValue(`${path}.message`, rule.message, 'must not contain line breaks'));
  } else if (hasLineBreak(text) && message === '') {
    causes.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (rule.messageExpression && rule.messageExpression.trim() === '') {
    causes.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
    causes.push(unsupportedValue(`${path}.reason`, rule.reason, REASONS));
  }
  if (!rule.fieldPath) return;
  const say = (why: string): void => {
    causes.push(invalidValue(`${path}.fieldPath`, rule.fieldPath, why));
  };
  if (rule.fieldPath.trim() === '') say('must be non-empty if specified');
  if (hasLineBreak(rule.fieldPath)) say('must not contain line breaks');
  if (typeof schemaAt(schema, rule.fieldPath) === 'string') say('must be a valid path');
}

/** The schema at a path of fields, or the error in the path. */
export function schemaAt(root: Schema, path: string, allowsBrackets = true): Schema | string {
  let schema = root;
  const step = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;
  for (let at = 0; at < path.length; at = step.lastIndex) {
    step.lastIndex = at;
    const found = step.exec(path);
    if (found === null) return `expected [ or . but got: ${path.slice(at)}`;
    if (found[2] !== undefined && !allowsBrackets) return 'array notation is not allowed';
    const name = found[1] ?? (found[2] ?? '').replace(/\\(.)/g, '$1');
    const { properties, additionalProperties } = schema;
    const next =
      properties === undefined
        ? typeof additionalProperties === 'object'
          ? additionalProperties
          : undefined
        : Object.hasOwn(properties, name)
          ? properties[name]
          : undefined;
    if (next === undefined) return 'does not refer to a valid field';
    schema = next;
  }
  return schema;
}

function checkRule(rule: CelRule, self: CelType, path: string, place: Place, causes: FieldCause[]): void {
  const { program, error, messageError } = compileRule(rule, self);
  const shown = ruleAsServer(rule);
  if (error !== undefined)
    causes.push({ ...invalidValue(`${path}.rule`, '', ''), message: `Invalid value: ${shown}: ${error}` });
  if (messageError !== undefined) {
    causes.push({
      ...invalidValue(`${path}.messageExpression`, '', ''),
      message: `Invalid value: ${shown}: ${messageError}`,
    });
  }
  if (program === undefined) return;
  if (program.uses.has('oldSelf')) {
    if (place.uncorrelated !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
      causes.push(invalidValue(`${path}.rule`, rule.rule, why));
    }
  } else if (rule.optionalOldSelf !== undefined) {
    const why = 'may not be set if oldSelf is not used in rule';
    causes.push(invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, why));
  }
}

/** A rule as in error messages: the server's internal record, in Go's JSON. */
function ruleAsServer(rule: CelRule): string {
  const record = {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
  const escapes: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
  return JSON.stringify(record).replace(/[<>&]/g, (char) => escapes[char] ?? char);
}

// ---- defaults

/** A default must be a valid value of the schema without unknown fields. */
function defaultCauses(node: SchemaNode, path: string, isRoot: boolean): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const preset = node.schema.default;
  if (preset !== undefined && preset !== null) causes.push(...presetCauses(node, preset, `${path}.default`));
  if (node.items !== undefined) causes.push(...defaultCauses(node.items, `${path}.items`, false));
  for (const [name, child] of node.properties) {
    if ((isRoot || node.isEmbedded) && isTypeOrObjectMeta(name)) continue;
    causes.push(...defaultCauses(child, `${path}.properties[${name}]`, false));
  }
  return causes;
}

function presetCauses(node: SchemaNode, preset: unknown, path: string): readonly FieldCause[] {
  const holder = { value: mutableCopy(preset) };
  pruneUnknown(holder, holderOf(node), { builtin: true });
  const causes: FieldCause[] = [];
  if (!deepEqual(holder.value, preset)) causes.push(invalidValue(path, preset, 'must not have unknown fields'));
  const within = (cause: FieldCause): FieldCause => ({
    ...cause,
    field: cause.field === '<nil>' ? path : `${path}.${cause.field}`,
  });
  const embedded = validateEmbedded(preset, node);
  if (embedded.length > 0) return [...causes, ...embedded.map(within)];
  const invalid = validateSchema(preset, node, undefined);
  if (invalid.length > 0) return [...causes, ...invalid.map(within)];
  return [...causes, ...(rulesOf(node)?.validate(preset, undefined) ?? []).map(within)];
}

/** Pruning works on objects, so a default of any type is wrapped into one. */
const holderOf = (node: SchemaNode): SchemaNode =>
  new SchemaNode({ type: 'object', properties: { value: node.schema } }, undefined, undefined);

// ---- selectable fields

const MAX_SELECTABLE = 8;

export function selectableFieldCauses(
  fields: readonly { readonly jsonPath: string }[],
  schema: Schema | undefined,
  path: string,
): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  const seen = new Set<string>();
  for (const [at, { jsonPath }] of fields.entries()) {
    const where = `${path}[${at}].jsonPath`;
    if (!jsonPath) {
      causes.push(required(where));
      continue;
    }
    const found = schema === undefined ? 'does not refer to a valid field' : schemaAt(schema, jsonPath, false);
    if (typeof found === 'string') {
      causes.push(invalidValue(where, jsonPath, `is an invalid path: ${found}`));
      continue;
    }
    if (/^\.metadata(\.|$)/.test(jsonPath)) {
      causes.push(invalidValue(where, jsonPath, 'must not point to fields in metadata'));
    }
    if (!['string', 'boolean', 'integer'].includes(found.type ?? '')) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      causes.push(invalidValue(where, jsonPath, why));
    }
    if (seen.has(jsonPath)) causes.push(duplicate(where, jsonPath));
    seen.add(jsonPath);
  }
  if (seen.size > MAX_SELECTABLE) {
    causes.push({
      reason: 'FieldValueTooMany',
      field: path,
      message: `Too many: ${seen.size}: must have at most ${MAX_SELECTABLE} items`,
    });
  }
  return causes;
}
