// The objects of a revision with the overrides of a cluster applied. Clusters with equal overrides and values share one
// result; if every cluster differs, only the hashes are kept, and the objects are rendered again when they are written.
import type { KubeObject } from '../../api/object.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import { canonicalJson } from '../../base/json.ts';
import { type Applied, applyOverrides } from '../overrides/applying.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import { contentOf } from '../work-source.ts';

export type Rendered =
  | { readonly ok: true; readonly content: string; manifests(): readonly KubeObject[] }
  | Extract<Applied, { readonly ok: false }>;

export interface Rendering {
  /** The override snapshots that the binding references, cluster-scoped ones first. */
  readonly snapshots: readonly HubOverrideSnapshot[];
  readonly values: Readonly<Record<string, string>>;
}

type Kept = { readonly ok: true; readonly content: string } | Extract<Applied, { readonly ok: false }>;

interface Memory {
  readonly kept: Map<string, Kept>;
  readonly recent: Map<string, readonly KubeObject[]>;
}

const memories = new WeakMap<ResourceSnapshot, Memory>();
const MAX_RECENT = 32;

export function render(snapshot: ResourceSnapshot, { snapshots, values }: Rendering): Rendered {
  const { selectedResources: manifests } = snapshot.spec;
  if (snapshots.length === 0) return { ok: true, content: contentOf(manifests), manifests: () => manifests };
  const memory = memories.get(snapshot) ?? { kept: new Map(), recent: new Map() };
  memories.set(snapshot, memory);
  // By uid: after an override was deleted, another snapshot may have the same name.
  const key = canonicalJson([snapshots.map(({ metadata }) => metadata.uid ?? metadata.name), values]);
  const made = (): Kept => {
    const applied = applyOverrides(manifests, snapshots, { overrideValues: values });
    if (!applied.ok) return applied;
    memory.recent.delete(key);
    memory.recent.set(key, applied.manifests);
    const [oldest] = memory.recent.keys();
    if (memory.recent.size > MAX_RECENT && oldest !== undefined) memory.recent.delete(oldest);
    return { ok: true, content: contentOf(applied.manifests) };
  };
  const kept = memory.kept.get(key) ?? made();
  memory.kept.set(key, kept);
  if (!kept.ok) return kept;
  return {
    ok: true,
    content: kept.content,
    manifests() {
      if (!memory.recent.has(key)) made();
      return memory.recent.get(key) ?? [];
    },
  };
}
