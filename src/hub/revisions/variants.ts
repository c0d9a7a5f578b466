// Content variants: one revision may hold different objects for different clusters, as target customizations of a repository ask for. Pure.
// An object without a mark is for all clusters, one with a mark for those of the named variants. Which cluster has which variant follows from its
// labels by a book that is kept with the revision, so that the rollout, the status and the command line find the same.
import { annotations } from '../../api/names.ts';
import type { KubeObject, Labels } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { by } from '../../base/compare.ts';
import { canonicalJson, deepFreeze, isObject } from '../../base/json.ts';
import { compileLabelSelector, type Selector } from '../../base/selector.ts';

/** All requirements hold; none = every cluster. */
export type Term = readonly Requirement[];

export interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export interface VariantBook {
  /** `first`: the first rule that matches counts alone. */
  readonly mode: 'first' | 'all';
  /** Per rule: a cluster matches when one of the terms does. */
  readonly rules: readonly (readonly Term[])[];
  /** Labels whose values are part of the content. */
  readonly labels: readonly string[];
  /** By key: the variant, or why there is none. */
  readonly variants: Readonly<Record<string, { readonly id: string } | { readonly error: string }>>;
}

/** Where an order and a binding record the variant of a cluster, beside the values of overrides. */
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

/** The numbers of the rules that apply. */
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

// ---- with the revision

const books = new WeakMap<object, VariantBook>();

/** The book of a revision, by the first snapshot of its group. */
export function bookOf(master: { readonly metadata: { readonly annotations?: Labels } }): VariantBook | undefined {
  const text = master.metadata.annotations?.[annotations.variants];
  if (text === undefined) return undefined;
  const known = books.get(master);
  if (known !== undefined) return known;
  const book = readBook(text);
  books.set(master, book);
  return book;
}

/** One that cannot be read has no variants: then no cluster moves. */
function readBook(text: string): VariantBook {
  try {
    const book: unknown = JSON.parse(text);
    if (isObject(book) && Array.isArray(book['rules']) && Array.isArray(book['labels']) && isObject(book['variants']))
      return book as unknown as VariantBook;
  } catch {
    // As below.
  }
  return { mode: 'first', rules: [], labels: [], variants: {} };
}

export const bookText = (book: VariantBook): string => canonicalJson(book);

// ---- objects

/** Objects of all variants as one list: those that are equal in all of them once and without a mark. */
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

/** The objects of one variant, without marks. */
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

/** A snapshot with the objects of one variant alone, the same one each time; undefined = the snapshot has no variants. */
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
