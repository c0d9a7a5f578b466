// The differences between two revisions, field by field. Values of Secrets are not shown. Pure.
import { envelopeIn, envelopeText, unwrapped } from '../../api/enveloped.ts';
import { groupVersionOf, type KubeObject, refText } from '../../api/object.ts';
import { deepEqual, isObject } from '../../base/json.ts';

export interface ObjectDiff {
  readonly object: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** For a changed object: `spec.replicas: 1 -> 2`. */
  readonly fields: readonly string[];
}

/** An object is the same in every API version. */
const identityOf = ({ apiVersion, kind, metadata }: KubeObject): string =>
  JSON.stringify([groupVersionOf(apiVersion).group, kind, metadata.namespace ?? '', metadata.name ?? '']);

const nameOf = ({ kind, metadata }: KubeObject): string =>
  refText({
    kind,
    name: metadata.name ?? '',
    namespace: metadata.namespace,
  });

/**
 * Compares what clusters get: an object in an envelope is compared separately, and named with its envelope. `selected`:
 * the objects with their envelopes, if `before` and `after` are unwrapped.
 */
export function diffBetween(
  before: readonly KubeObject[],
  after: readonly KubeObject[],
  selected: readonly KubeObject[] = [...before, ...after],
): readonly ObjectDiff[] {
  const had = new Map(unwrapped(before).map((each) => [identityOf(each), each]));
  const gets = new Map(unwrapped(after).map((each) => [identityOf(each), each]));
  const envelopes = envelopesIn(selected);
  const titleOf = (object: KubeObject) => `${nameOf(object)}${envelopes.get(identityOf(object)) ?? ''}`;
  return [
    ...[...gets].flatMap(([identity, object]): readonly ObjectDiff[] => {
      const old = had.get(identity);
      if (old === undefined) return [{ object: titleOf(object), change: 'added', fields: [] }];
      const fields = fieldsBetween(old, object, object.kind === 'Secret' ? secretText : plainText);
      return fields.length === 0 ? [] : [{ object: titleOf(object), change: 'changed', fields }];
    }),
    ...[...had]
      .filter(([identity]) => !gets.has(identity))
      .map(([, object]): ObjectDiff => ({ object: titleOf(object), change: 'removed', fields: [] })),
  ];
}

function envelopesIn(selected: readonly KubeObject[]): ReadonlyMap<string, string> {
  return new Map(
    selected.flatMap((each) => {
      const envelope = envelopeIn(each);
      if (envelope === undefined) return [];
      return unwrapped([each]).map((inner) => [identityOf(inner), ` (in ${envelopeText(envelope)})`] as const);
    }),
  );
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

type LineOf = (path: string, before: unknown, after: unknown) => string;

function fieldsBetween(before: unknown, after: unknown, lineOf: LineOf, path = ''): readonly string[] {
  if (deepEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => {
      const step = PLAIN.test(key) ? `${path === '' ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`;
      return fieldsBetween(before[key], after[key], lineOf, `${path}${step}`);
    });
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => fieldsBetween(before[at], after[at], lineOf, `${path}[${at}]`)).flat();
  }
  return [lineOf(path, before, after)];
}

const plainText: LineOf = (path, before, after) => `${path}: ${textOf(before)} -> ${textOf(after)}`;

const secretText: LineOf = (path, before, after) =>
  `${path}: (${before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'})`;

const textOf = (value: unknown): string => (value === undefined ? '(none)' : JSON.stringify(value));
