// Whether a schema is structural: it defines every field in one place, so that objects can be pruned and defaulted by
// it; conditions (anyOf etc.) may only restrict the schema.
import type { FieldCause } from '../../api/kind.ts';
import type { Schema } from '../../api/schema.ts';
import { forbiddenField, invalidValue, required } from '../../api/status.ts';
import { byText } from '../../base/compare.ts';
import { deepEqual } from '../../base/json.ts';
import { compilePattern } from '../../base/regexp/pattern.ts';

type Level = 'root' | 'item' | 'field';

/** Sorted as text, as on a real server. */
export function structuralCauses(schema: Schema, path: string): readonly FieldCause[] {
  const causes: FieldCause[] = [];
  checkLevel(schema, 'root', path, causes);
  checkComplete(schema, schema, path, path, causes);
  return causes.sort((a, b) => byText(`${a.field}: ${a.message}`, `${b.field}: ${b.message}`));
}

const NO_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const propertyPath = (path: string, name: string): string => `${path}.properties[${name}]`;

function checkLevel(schema: Schema, level: Level, path: string, causes: FieldCause[]): void {
  const { type, items, properties = {}, additionalProperties } = schema;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;

  if (type === 'array' && items === undefined) causes.push(required(`${path}.items`, 'must be specified'));
  if (items !== undefined && !Array.isArray(items)) checkLevel(items, 'item', `${path}.items`, causes);
  for (const [name, property] of Object.entries(properties)) {
    checkLevel(property, 'field', propertyPath(path, name), causes);
  }
  if (additionalProperties !== undefined) {
    if (level === 'root') causes.push(forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'));
    if (isEmbedded) {
      const why = 'must not be used if x-kubernetes-embedded-resource is set';
      causes.push(forbiddenField(`${path}.additionalProperties`, why));
    }
    if (typeof additionalProperties === 'object') {
      checkLevel(additionalProperties, 'field', `${path}.additionalProperties`, causes);
    }
  }

  for (const [extension, isSet] of [
    ['x-kubernetes-preserve-unknown-fields', preserves],
    ['x-kubernetes-embedded-resource', isEmbedded],
  ] as const) {
    if (!isIntOrString || !isSet) continue;
    causes.push(invalidValue(`${path}.${extension}`, true, 'must be false if x-kubernetes-int-or-string is true'));
  }

  const skipsAnyOf = isIntOrStringAnyOf(schema);
  const skipsFirstAllOf = isIntOrStringAnyOf(schema.allOf?.[0]);
  checkConditions(schema, path, skipsAnyOf, skipsFirstAllOf, causes);

  if (isEmbedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    causes.push(type === undefined ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why));
  } else if (type === undefined && !isIntOrString && !preserves) {
    causes.push(required(`${path}.type`, NO_TYPE[level]));
  }
  if (level === 'root' && type !== undefined && type !== 'object') {
    causes.push(invalidValue(`${path}.type`, type, 'must be object at the root'));
  }

  const isWhole = level === 'root' || isEmbedded;
  for (const name of ['kind', 'apiVersion'] as const) {
    const property = properties[name];
    if (isWhole && property !== undefined && property.type !== 'string') {
      causes.push(invalidValue(`${propertyPath(path, name)}.type`, property.type ?? '', 'must be string'));
    }
  }
  if (properties['metadata'] !== undefined) {
    checkMetadata(properties['metadata'], isWhole, level, propertyPath(path, 'metadata'), causes);
  }
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    causes.push(required(`${path}.properties`, why));
  }
}

/** The schema of metadata is fixed; a CRD may only restrict the name. */
function checkMetadata(schema: Schema, isWhole: boolean, level: Level, path: string, causes: FieldCause[]): void {
  if (isWhole && schema.type !== 'object') {
    causes.push(invalidValue(`${path}.type`, schema.type ?? '', 'must be object'));
  }
  if (level !== 'root') return;
  const { type: _type, default: _default, properties = {}, ...rest } = schema;
  const others = Object.keys(properties).filter((name) => name !== 'name' && name !== 'generateName');
  if (others.length === 0 && Object.keys(rest).length === 0) return;
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  causes.push(forbiddenField(path, why));
}

const isIntOrStringAnyOf = (schema: Schema | undefined): boolean =>
  deepEqual(schema?.anyOf, [{ type: 'integer' }, { type: 'string' }]);

function checkConditions(
  schema: Schema,
  path: string,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  causes: FieldCause[],
): void {
  if (!skipsAnyOf) {
    for (const [at, part] of (schema.anyOf ?? []).entries()) checkNested(part, `${path}.anyOf[${at}]`, false, causes);
  }
  for (const [at, part] of (schema.allOf ?? []).entries()) {
    checkNested(part, `${path}.allOf[${at}]`, skipsFirstAllOf && at === 0, causes);
  }
  for (const [at, part] of (schema.oneOf ?? []).entries()) checkNested(part, `${path}.oneOf[${at}]`, false, causes);
  if (schema.not !== undefined) checkNested(schema.not, `${path}.not`, false, causes);
  if (schema.pattern !== undefined && schema.pattern !== '') {
    const { error } = compilePattern(schema.pattern);
    if (error !== undefined) {
      const why = `must be a valid regular expression, but isn't: ${error}`;
      causes.push(invalidValue(`${path}.pattern`, schema.pattern, why));
    }
  }
}

/** Keywords that define a value instead of restricting it are not allowed inside a condition. */
const FORBIDDEN: readonly (readonly [keyof Schema, string, (value: unknown) => boolean])[] = [
  ['type', 'must be empty to be structural', (value) => value !== undefined && value !== ''],
  ['additionalProperties', 'must be undefined to be structural', (value) => value !== undefined],
  ['default', 'must be undefined to be structural', (value) => value !== undefined],
  ['title', 'must be empty to be structural', (value) => value !== undefined && value !== ''],
  ['description', 'must be empty to be structural', (value) => value !== undefined && value !== ''],
  ['nullable', 'must be false to be structural', (value) => value === true],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural', (value) => value === true],
  ['x-kubernetes-embedded-resource', 'must be false to be structural', (value) => value === true],
  ['x-kubernetes-int-or-string', 'must be false to be structural', (value) => value === true],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural', (value) => Array.isArray(value) && value.length > 0],
  ['x-kubernetes-list-type', 'must be undefined to be structural', (value) => value !== undefined],
  ['x-kubernetes-map-type', 'must be undefined to be structural', (value) => value !== undefined],
  ['x-kubernetes-validations', 'must be empty to be structural', (value) => Array.isArray(value) && value.length > 0],
];

function checkNested(schema: Schema, path: string, skipsAnyOf: boolean, causes: FieldCause[]): void {
  checkConditions(schema, path, skipsAnyOf, false, causes);
  if (schema.items !== undefined) checkNested(schema.items, `${path}.items`, false, causes);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNested(property, propertyPath(path, name), false, causes);
  }
  for (const [name, why, isSet] of FORBIDDEN) {
    if (isSet(schema[name])) causes.push(forbiddenField(`${path}.${name}`, why));
  }
  if (schema.properties?.['metadata'] !== undefined) {
    causes.push(forbiddenField(propertyPath(path, 'metadata'), 'must not be specified in a nested context'));
  }
}

/** A field in a condition must also be defined outside of it. */
function checkComplete(condition: Schema, spine: Schema, spinePath: string, path: string, causes: FieldCause[]): void {
  const inner = (part: Schema | undefined, at: string): void => {
    if (part !== undefined) checkNestedComplete(part, spine, spinePath, `${path}.${at}`, causes);
  };
  inner(condition.not, 'not');
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [at, part] of (condition[name] ?? []).entries()) inner(part, `${name}[${at}]`);
  }
}

function checkNestedComplete(
  condition: Schema,
  spine: Schema | undefined,
  spinePath: string,
  path: string,
  causes: FieldCause[],
): void {
  if (spine === undefined) {
    causes.push(required(spinePath, `because it is defined in ${path}`));
    return;
  }
  checkComplete(condition, spine, spinePath, path, causes);
  if (condition.items !== undefined) {
    checkNestedComplete(condition.items, spine.items, `${spinePath}.items`, `${path}.items`, causes);
  }
  for (const [name, property] of Object.entries(condition.properties ?? {})) {
    const along = Object.hasOwn(spine.properties ?? {}, name) ? spine.properties?.[name] : undefined;
    checkNestedComplete(property, along, propertyPath(spinePath, name), propertyPath(path, name), causes);
  }
}
