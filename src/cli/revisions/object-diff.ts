// The differences between two revisions, object by object and field by field. Pure.
import { groupVersionOf, type KubeObject, refText } from '../../api/object.ts';
import { deepEqual, isObject, type Json } from '../../base/json.ts';
import { isOfSecret } from './secrets.ts';

export interface FieldChange {
  readonly path: readonly string[];
  /** Absent = the field is new. */
  readonly before?: Json;
  /** Absent = the field is removed. */
  readonly after?: Json;
}

export interface ObjectChange {
  readonly change: 'added' | 'changed' | 'removed';
  readonly object: KubeObject;
  /** For a changed object. */
  readonly fields: readonly FieldChange[];
}

/** An object is the same in every API version. */
export const identityOf = ({ apiVersion, kind, metadata }: KubeObject): string =>
  JSON.stringify([groupVersionOf(apiVersion).group, kind, metadata.namespace ?? '', metadata.name ?? '']);

export function changesBetween(before: readonly KubeObject[], after: readonly KubeObject[]): readonly ObjectChange[] {
  const had = new Map(before.map((object) => [identityOf(object), object]));
  const gets = new Set(after.map(identityOf));
  return [
    ...after.flatMap((object): readonly ObjectChange[] => {
      const old = had.get(identityOf(object));
      if (old === undefined) return [{ change: 'added', object, fields: [] }];
      const fields = fieldsBetween(asJson(old), asJson(object));
      return fields.length === 0 ? [] : [{ change: 'changed', object, fields }];
    }),
    ...before
      .filter((object) => !gets.has(identityOf(object)))
      .map((object): ObjectChange => ({ change: 'removed', object, fields: [] })),
  ];
}

export const asJson = (object: KubeObject): Json => object as unknown as Json;

/** Lists of equal length are compared item by item, others are replaced as a whole. */
export function fieldsBetween(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly string[] = [],
): readonly FieldChange[] {
  if (before === undefined && after === undefined) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => fieldsBetween(own(before, key), own(after, key), [...path, key]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item: Json, at) => fieldsBetween(item, after[at] as Json, [...path, String(at)]));
  }
  if (deepEqual(before, after)) return [];
  return [{ path, before, after }];
}

const own = (value: object, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? (value as Readonly<Record<string, Json>>)[key] : undefined;

const MARKS = { added: '+', changed: '~', removed: '-' } as const;
const MAX_VALUE = 120;

/** For users. Values of Secrets are not printed. */
export const renderChanges = (changes: readonly ObjectChange[]): readonly string[] =>
  changes.flatMap(({ change, object, fields }) => [
    `${MARKS[change]} ${refText({ kind: object.kind, name: object.metadata.name ?? '', namespace: object.metadata.namespace })}`,
    ...fields.map((field) => `    ${fieldText(field, isOfSecret(object, fields, field))}`),
  ]);

function fieldText({ path, before, after }: FieldChange, isSecret: boolean): string {
  const where = path.map((key, at) => (/^\d+$/.test(key) ? `[${key}]` : `${at === 0 ? '' : '.'}${key}`)).join('');
  if (isSecret) return `${where}: (${before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'})`;
  return `${where}: ${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return '(none)';
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`;
}

/** `1 added, 2 changed (5 fields), 1 removed` */
export function changeCounts(changes: readonly ObjectChange[]): string {
  const of = (change: ObjectChange['change']) => changes.filter((each) => each.change === change);
  const fields = of('changed').reduce((sum, each) => sum + each.fields.length, 0);
  const parts = [
    ...(of('added').length === 0 ? [] : [`${of('added').length} added`]),
    ...(of('changed').length === 0
      ? []
      : [`${of('changed').length} changed (${fields} ${fields === 1 ? 'field' : 'fields'})`]),
    ...(of('removed').length === 0 ? [] : [`${of('removed').length} removed`]),
  ];
  return parts.length === 0 ? 'no objects changed' : parts.join(', ');
}
