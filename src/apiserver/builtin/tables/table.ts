// Building blocks of tables. Cells are computed for every row of every list, so they read plain fields and build
// nothing that is not printed. Every field may be absent: bookmarks of a watch are printed as rows, too.
import type { KubeObject, Labels } from '../../../api/object.ts';
import { ageText, stampMs } from '../../../base/age.ts';
import type { Json } from '../../../base/json.ts';
import { compileLabelSelector, formatSelector, type LabelSelector } from '../../../base/selector.ts';
import type { TableColumn, TableShape } from '../../registry.ts';
import type { Condition, PodTemplate } from '../drafts.ts';

/** A kind's table. `Shape` declares the fields that the cells read; they are not validated. */
export const table = <Shape>(
  columns: readonly TableColumn[],
  cells: (object: KubeObject & Shape, now: number) => readonly Json[],
): TableShape => ({ columns, cells: cells as TableShape['cells'] });

const column = (name: string, type: string, description: string): TableColumn => ({
  name,
  type,
  format: '',
  description,
  priority: 0,
});

export const text = (name: string, description: string): TableColumn => column(name, 'string', description);
export const integer = (name: string, description: string): TableColumn => column(name, 'integer', description);
export const boolean = (name: string, description: string): TableColumn => column(name, 'boolean', description);

/** Shown with `-o wide` only. */
export const wide = (of: TableColumn): TableColumn => ({ ...of, priority: 1 });

export const NAME: TableColumn = { ...text('Name', 'The name of the object.'), format: 'name' };
export const AGE = text('Age', 'Time since the object was created.');
export const CREATED_AT = column('Created At', 'date', 'The moment at which the object was created.');
export const CONTAINERS = wide(text('Containers', 'Names of the containers of the Pod template.'));
export const IMAGES = wide(text('Images', 'Images of the containers of the Pod template.'));
export const SELECTOR = wide(text('Selector', 'Which Pods belong to the object.'));

export const nameOf = (object: KubeObject): string => object.metadata.name ?? '';

/** The age of a timestamp; `<unknown>` if there is none. */
export const since = (stamp: string | null | undefined, now: number): string =>
  stamp === undefined || stamp === null || stamp === '' ? '<unknown>' : ageText(stampMs(stamp), now);

export const ageOf = (object: KubeObject, now: number): string => since(object.metadata.creationTimestamp, now);

export const sizeOf = (fields: object | null | undefined): number => {
  let size = 0;
  for (const _ in fields) size++;
  return size;
};

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  if (conditions) for (const condition of conditions) if (condition.type === type) return condition;
  return undefined;
}

export const holds = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditionOf(conditions, type)?.status === 'True';

export const containerNames = (template: PodTemplate | undefined): string => joined(template?.spec?.containers, 'name');
export const containerImages = (template: PodTemplate | undefined): string =>
  joined(template?.spec?.containers, 'image');

function joined<Key extends string>(items: readonly { readonly [K in Key]?: string }[] | undefined, key: Key): string {
  let result = '';
  let first = true;
  for (const item of items ?? []) {
    result += first ? (item[key] ?? '') : `,${item[key] ?? ''}`;
    first = false;
  }
  return result;
}

/** `a=1,b=2`, sorted; `<none>` without labels. */
export function labelsText(labels: Labels | null | undefined): string {
  if (!labels) return '<none>';
  const keys = Object.keys(labels);
  if (keys.length === 0) return '<none>';
  return keys
    .sort()
    .map((key) => `${key}=${labels[key]}`)
    .join(',');
}

/** A selector as a query string; an invalid one does not break the list. */
export function selectorText(selector: LabelSelector | undefined, words: { empty: string; broken: string }): string {
  try {
    return formatSelector(compileLabelSelector(selector)) || words.empty;
  } catch {
    return words.broken;
  }
}

export const SELECTOR_WORDS = { empty: '<none>', broken: '<error>' };

/** The first three, and the number of the others. */
export const firstThree = (shown: readonly string[], count: number): string =>
  count > 3 ? `${shown.slice(0, 3).join(',')} + ${count - 3} more...` : shown.join(',');

/** Kinds without their own table. */
export const generic: TableShape = table([NAME, AGE], (object, now) => [nameOf(object), ageOf(object, now)]);

/** Kinds that print the creation time itself. */
export const created: TableShape = table([NAME, CREATED_AT], (object) => [
  nameOf(object),
  object.metadata.creationTimestamp ?? null,
]);
