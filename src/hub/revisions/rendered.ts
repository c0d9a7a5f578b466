// The objects of each bundle, as last read from its repository. Placements with spec.source take their content from
// here instead of selecting it. In memory only: after a restart a bundle is unknown until it is read again, and its
// placement keeps its present content.
import { SYSTEM_NAMESPACE } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { HubPlacement } from '../placement-sources.ts';
import { type Content, contentOf, type Marks } from './content.ts';
import type { VariantBook } from './variants.ts';

export interface RenderedBundle {
  readonly commit: string;
  /**
   * The hash of the rollout settings of the commit; the placement has the same one once it is updated
   * (annotations.sourceHash).
   */
  readonly sourceHash: string;
  /** Frozen, in the order of revisions. */
  readonly objects: readonly KubeObject[];
  readonly variants?: VariantBook;
}

export interface Rendered {
  /** undefined = not read yet, or not without an error. */
  contentOf(key: string, marks: Marks): Content | undefined;
  put(key: string, bundle: RenderedBundle): void;
  /** Removes all other bundles of a GitRepo. */
  keepOnly(repo: string, bundles: ReadonlySet<string>): void;
  /** Called with the key of each bundle that changes. Returns a function that unsubscribes. */
  subscribe(changed: (key: string) => void): () => void;
}

/** `repo`: namespace and name of a GitRepo. */
export const bundleKey = (repo: string, bundle: string): string => `${repo} ${bundle}`;

/** The GitRepo of a placement: in its own namespace, or in the system namespace for a ClusterResourcePlacement. */
export const repoKeyOf = ({ metadata, spec }: Pick<HubPlacement, 'metadata' | 'spec'>): string | undefined =>
  spec.source && `${metadata.namespace ?? SYSTEM_NAMESPACE}/${spec.source.gitRepo}`;

export const bundleKeyOf = (placement: Pick<HubPlacement, 'metadata' | 'spec'>): string | undefined => {
  const repo = repoKeyOf(placement);
  return repo && bundleKey(repo, placement.spec.source?.bundle ?? '');
};

interface Entry extends RenderedBundle {
  content?: { readonly marks: Marks; readonly value: Content };
}

export function createRendered(): Rendered {
  const known = new Map<string, Entry>();
  const listeners = new Set<(key: string) => void>();
  const tell = (key: string) => {
    for (const listener of listeners) listener(key);
  };
  return {
    contentOf(key, marks) {
      const entry = known.get(key);
      if (entry === undefined) return undefined;
      const { commit, sourceHash } = entry;
      if (entry.content?.marks.tracksJobs !== marks.tracksJobs) {
        entry.content = { marks, value: { ...contentOf(entry.objects, marks, entry.variants), commit, sourceHash } };
      }
      return entry.content?.value;
    },
    put(key, bundle) {
      const last = known.get(key);
      if (last?.objects === bundle.objects && last.sourceHash === bundle.sourceHash) return;
      known.set(key, { ...bundle });
      tell(key);
    },
    keepOnly(repo, bundles) {
      for (const key of [...known.keys()]) {
        if (!key.startsWith(`${repo} `) || bundles.has(key.slice(repo.length + 1))) continue;
        known.delete(key);
        tell(key);
      }
    },
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
}
