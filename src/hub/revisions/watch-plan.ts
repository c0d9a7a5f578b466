// Which watches cover the selected objects. Up to three namespaces of a kind are watched one by one; if placements read
// more, one cluster-wide watch replaces them until it is not read any more. In a watched namespace most objects are
// selected, so its watch brings full objects; the cluster-wide watch brings only metadata, and selected objects are
// fetched.
import type { Resource } from '../../api/kind.ts';
import type { Source } from '../../runtime/controller.ts';
import { only } from '../only.ts';
import type { Candidate } from './propagation.ts';

export interface WatchPlan {
  /** The source that covers this kind in this namespace; `reader` uses it from now on. */
  sourceFor(resource: Resource, namespace: string | undefined, reader: string): Source<Candidate>;
  /** Drops the sources that a reader does not use any more. */
  keep(reader: string, kept: ReadonlySet<Source<Candidate>>): void;
  forget(reader: string): void;
  /** Called if readers of a kind have to reconcile, because another source covers it now. */
  onWiden(told: (reader: string) => void): void;
  /** The number of kinds in use. */
  readonly size: number;
}

const MAX_NARROW = 3;

interface Plan {
  /** By namespace; '' for cluster-scoped kinds. */
  readonly narrow: Map<string, { readonly source: Source<Candidate>; readonly readers: Set<string> }>;
  readonly wide: Source<Candidate>;
  readonly wideReaders: Set<string>;
  isWide: boolean;
}

const sourceOf = (resource: Resource, namespace?: string): Source<Candidate> => ({
  on: 'hub',
  resource,
  ...(namespace === undefined ? { view: 'metadata' } : { namespace, isReadWhole: true }),
  project: ({ metadata }) => ({ metadata: only(metadata, 'labels', 'deletionTimestamp', 'ownerReferences') }),
});

/** Cached by identity, because resources are static objects and selectors of whole namespaces use all of them. */
const ids = new WeakMap<Resource, string>();

function idOf(resource: Resource): string {
  let id = ids.get(resource);
  if (id === undefined) {
    id = `${resource.group}/${resource.version}/${resource.plural}`;
    ids.set(resource, id);
  }
  return id;
}

export function createWatchPlan(maxNarrow = MAX_NARROW): WatchPlan {
  const plans = new Map<string, Plan>();
  const tellings: ((reader: string) => void)[] = [];

  function planOf(resource: Resource): Plan {
    const id = idOf(resource);
    let plan = plans.get(id);
    if (plan === undefined) {
      plan = { narrow: new Map(), wide: sourceOf(resource), wideReaders: new Set(), isWide: !resource.namespaced };
      plans.set(id, plan);
    }
    return plan;
  }

  function widen(plan: Plan): void {
    plan.isWide = true;
    for (const { readers } of plan.narrow.values()) {
      for (const reader of readers) for (const tell of tellings) tell(reader);
    }
  }

  /** Removes a reader from the sources that it does not use any more. */
  function release(reader: string, isKept: (source: Source<Candidate>) => boolean): void {
    for (const [id, plan] of plans) {
      if (!isKept(plan.wide)) plan.wideReaders.delete(reader);
      for (const [namespace, { source, readers }] of plan.narrow) {
        if (!isKept(source)) readers.delete(reader);
        if (readers.size === 0) plan.narrow.delete(namespace);
      }
      if (plan.wideReaders.size === 0 && plan.narrow.size === 0) plans.delete(id);
    }
  }

  return {
    sourceFor(resource, namespace, reader) {
      const plan = planOf(resource);
      if (!plan.isWide && namespace !== undefined) {
        let entry = plan.narrow.get(namespace);
        if (entry === undefined && plan.narrow.size < maxNarrow) {
          entry = { source: sourceOf(resource, namespace), readers: new Set() };
          plan.narrow.set(namespace, entry);
        }
        if (entry !== undefined) {
          entry.readers.add(reader);
          return entry.source;
        }
        widen(plan);
      }
      plan.wideReaders.add(reader);
      return plan.wide;
    },
    keep: (reader, kept) => release(reader, (source) => kept.has(source)),
    forget: (reader) => release(reader, () => false),
    onWiden: (told) => tellings.push(told),
    get size() {
      return plans.size;
    },
  };
}
