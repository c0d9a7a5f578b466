// Content variants: one revision may have different objects for different clusters, for the target customizations of a
// repository. Pure. An object without a variant annotation is for all clusters. The variant of a cluster follows from
// its labels, by a book that is stored with the revision, so that the rollout, the status and the CLI agree.
import { annotations } from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { by } from '../../base/compare.ts';
import { canonicalJson, deepFreeze, isObject } from '../../base/json.ts';
import { compileLabelSelector, type Selector } from '../../base/selector.ts';

/** All requirements must match; none = every cluster. */
export type Term = readonly Requirement[];

export interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export interface VariantBook {
  /** `first`: only the first matching rule counts. */
  readonly mode: 'first' | 'all';
  /** A rule matches a cluster if one of its terms does. */
  readonly rules: readonly (readonly Term[])[];
  /** Labels whose values are part of the content. */
  readonly labels: readonly string[];
  /** By key: the variant, or why there is none. */
  readonly variants: Readonly<Record<string, { readonly id: string } | { readonly error: string }>>;
}

/** The key under which orders and bindings record the variant of a cluster, beside the values of overrides. */
export const VARIANT_VALUE = 'variant';

const compiled = new WeakMap<Term, Selector>();

export function matchesTerms(terms: readonly Term[], labels: Labels): boolean {
  return terms.some((term) => {
    let selector = compiled.get(term);
    if (selector === undefined) {
      const matchExpressions = term.map(({ key, operator, values }) => ({
        key,
        operator,
        ...(values === undefined ? {} : { values }),
      }));
      selector = compileLabelSelector({ matchExpressions });
      compiled.set(term, selector);
    }
    return selector.matches(labels);
  });
}

/** The indexes of the rules that apply. */
export function rulesFor({ mode, rules }: Pick<VariantBook, 'mode' | 'rules'>, labels: Labels): readonly number[] {
  const matching = rules.flatMap((terms, at) => (matchesTerms(terms, labels) ? [at] : []));
  return mode === 'first' ? matching.slice(0, 1) : matching;
}

/** Clusters with equal keys have equal content. */
export const variantKey = (rules: readonly number[], values: readonly (string | null)[]): string =>
  values.length === 0 ? rules.join(',') : `${rules.join(',')} ${JSON.stringify(values)}`;

export const keyFor = (book: Pick<VariantBook, 'mode' | 'rules' | 'labels'>, labels: Labels): string =>
  variantKey(
    rulesFor(book, labels),
    book.labels.map((key) => labels[key] ?? null),
  );

/** undefined = the content of this cluster has not been rendered yet. */
export const variantFor = (book: VariantBook, labels: Labels): VariantBook['variants'][string] | undefined => {
  const key = keyFor(book, labels);
  return Object.hasOwn(book.variants, key) ? book.variants[key] : undefined;
};

// ---- the book of a revision

const books = new WeakMap<object, VariantBook>();

/** The book of a revision, from the master of its group. */
export function bookOf(master: { readonly metadata: { readonly annotations?: Labels } }): VariantBook | undefined {
  const text = master.metadata.annotations?.[annotations.variants];
  if (text === undefined) return undefined;
  const known = books.get(master);
  if (known !== undefined) return known;
  const book = readBook(text);
  books.set(master, book);
  return book;
}

/** An unreadable book has no variants, so no cluster moves. */
function readBook(text: string): VariantBook {
  try {
    const book: unknown = JSON.parse(text);
    if (isObject(book) && Array.isArray(book['rules']) && Array.isArray(book['labels']) && isObject(book['variants']))
      return book as unknown as VariantBook;
  } catch {
    // Falls through to the empty book.
  }
  return { mode: 'first', rules: [], labels: [], variants: {} };
}

export const bookText = (book: VariantBook): string => canonicalJson(book);

// ---- objects

/**
 * Joins the objects of all variants into one list: an object that is equal in all of them appears once, without an
 * annotation.
 */
export function joined(variants: ReadonlyMap<string, readonly KubeObject[]>): readonly KubeObject[] {
  const all = new Map<string, { readonly object: KubeObject; readonly ids: string[] }>();
  for (const [id, objects] of [...variants].toSorted(by(([each]) => each)))
    for (const object of objects) {
      const key = canonicalJson(object);
      const known = all.get(key);
      if (known === undefined) all.set(key, { object, ids: [id] });
      else known.ids.push(id);
    }
  return [...all.values()].map(({ object, ids }) => (ids.length === variants.size ? object : marked(object, ids)));
}

const marked = (object: KubeObject, ids: readonly string[]): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, [annotations.variant]: ids.join(' ') },
  },
});

/** The objects of one variant, without the annotations. */
export const ofVariant = (objects: readonly KubeObject[], id: string): readonly KubeObject[] =>
  objects.flatMap((object) => {
    const mark = object.metadata.annotations?.[annotations.variant];
    if (mark === undefined) return [object];
    if (!mark.split(' ').includes(id)) return [];
    const { [annotations.variant]: _mark, ...kept } = object.metadata.annotations ?? {};
    const { annotations: _all, ...metadata } = object.metadata;
    return [{ ...object, metadata: Object.keys(kept).length === 0 ? metadata : { ...metadata, annotations: kept } }];
  });

const parts = new WeakMap<ResourceSnapshot, Map<string, ResourceSnapshot>>();

/**
 * The snapshot with only the objects of one variant, cached by identity; `id` undefined = the snapshot has no variants.
 */
export function snapshotOf(snapshot: ResourceSnapshot, id: string | undefined): ResourceSnapshot {
  if (id === undefined) return snapshot;
  const { selectedResources } = snapshot.spec;
  const known = parts.get(snapshot) ?? new Map<string, ResourceSnapshot>();
  parts.set(snapshot, known);
  const before = known.get(id);
  if (before !== undefined) return before;
  const hasMarks = selectedResources.some(({ metadata }) => metadata.annotations?.[annotations.variant] !== undefined);
  const objects = hasMarks ? deepFreeze(ofVariant(selectedResources, id)) : undefined;
  const part =
    objects === undefined
      ? snapshot
      : { ...snapshot, spec: { ...snapshot.spec, selectedResources: objects as typeof selectedResources } };
  known.set(id, part);
  return part;
}
