// Which watches tell what the placements select. Of a namespaced kind up to three namespaces are watched one by one; when placements look
// into more, one watch over the whole cluster replaces them, until it is not read any more. In a namespace that is looked into most objects are
// selected, so its watch brings them in full; that over the whole cluster brings only metadata, and what is selected is asked for.
import type { Resource } from '../../api/kind.ts';
import type { Source } from '../../runtime/controller.ts';
import { only } from '../only.ts';
import type { Candidate } from './propagation.ts';

export interface WatchPlan {
  /** The source that tells of this kind, in this namespace. `reader` looks into it from now on. */
  sourceFor(resource: Resource, namespace: string | undefined, reader: string): Source<Candidate>;
  /** What a reader looked into beyond `kept` is no more its concern. */
  keep(reader: string, kept: ReadonlySet<Source<Candidate>>): void;
  forget(reader: string): void;
  /** Called when readers of a kind should look again, because another source tells them now. */
  onWiden(told: (reader: string) => void): void;
  /** Kinds that anybody looks into. */
  readonly size: number;
}

const MAX_NARROW = 3;

interface Plan {
  /** By namespace; '' of cluster-scoped kinds. */
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

/** Resources are the same objects from pass to pass, and a sweep asks for all of them. */
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

  /** Lets go of what a reader does not look into any more. */
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
