// Decides whether an object belongs to a Source, exactly as the server does: the response to a write must be folded
// into the caches whose watches will report it, and no others.
import type { KubeObject } from '../api/object.ts';
import { compileFields, type FieldReaders, parseFieldSelector } from '../base/field-selector.ts';
import { isObject } from '../base/json.ts';
import { parseSelector } from '../base/selector.ts';
import type { Projected, Source } from './controller.ts';

export interface Selection {
  /** The source has a label or field selector: an object can leave it without being deleted. */
  readonly filtered: boolean;
  matches(object: KubeObject): boolean;
}

export function selectionOf<T extends Projected>({ labels, fields, namespace }: Source<T>): Selection {
  const byLabels = labels === undefined || labels === '' ? undefined : parseSelector(labels);
  const terms = fields === undefined || fields === '' ? [] : parseFieldSelector(fields);
  const readers: Record<string, (object: KubeObject) => string> = {};
  for (const { field } of terms) readers[field] = readerOf(field);
  const byFields = compileFields(terms, readers as FieldReaders<KubeObject>);
  return {
    filtered: byLabels !== undefined || terms.length > 0,
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (byLabels === undefined || byLabels.matches(object.metadata.labels ?? {})) &&
      (byFields.unknownField !== undefined || byFields.matches(object)),
  };
}

function readerOf(field: string): (object: KubeObject) => string {
  const path = field.split('.');
  return (object) => {
    let value: unknown = object;
    for (const step of path) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    return value === undefined || value === null ? '' : String(value);
  };
}
