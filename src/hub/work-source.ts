// The cached projections of Works: no manifests, only a hash of them, and the report of the member.
import type { Condition } from '../api/conditions.ts';
import { labels, workBaseIn } from '../api/names.ts';
import { conditionOf } from '../api/next-condition.ts';
import type { ObjectMeta } from '../api/object.ts';
import { type ManifestCondition, type Work, work } from '../api/work.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import { keyOf } from '../runtime/cache.ts';
import type { Source } from '../runtime/controller.ts';
import { only } from './only.ts';

export interface HubWork {
  readonly metadata: ObjectMeta;
  /** A hash: the same for equal manifests. */
  readonly content: string;
  /** Canonical JSON of the apply strategy, or empty. */
  readonly strategy: string;
  /** Canonical JSON of the report-back strategy; absent = not set. */
  readonly reportBack?: string;
  readonly conditions: readonly Condition[];
  /** A digest of the statuses of placed objects that are copied to the hub; absent = there are none. */
  readonly statuses?: string;
  /** Manifests that failed, have drifted or differ; all others are left out. */
  readonly reports: readonly ManifestCondition[];
}

/** Indexes: `binding`, the key of its binding; `base`, the prefix of its name with its namespace. */
export const works: Source<HubWork> = {
  on: 'hub',
  resource: work,
  project(object, old) {
    const { metadata, spec, status } = object as Work;
    // Reports of the member are more frequent than changes of the manifests, so the hash is reused.
    const known = old !== undefined && isSameOrder(metadata, old.metadata) ? old.content : undefined;
    return {
      metadata: only(
        metadata,
        'generation',
        'deletionTimestamp',
        'finalizers',
        'labels',
        'annotations',
        'ownerReferences',
      ),
      content: known ?? contentOf(spec?.workload?.manifests ?? []),
      strategy: spec?.applyStrategy === undefined ? '' : canonicalJson(spec.applyStrategy),
      ...(spec?.reportBackStrategy === undefined ? {} : { reportBack: canonicalJson(spec.reportBackStrategy) }),
      ...statusesOf(spec?.reportBackStrategy?.destination, status?.manifestConditions),
      conditions: status?.conditions ?? [],
      reports: (status?.manifestConditions ?? []).filter(isWorthTelling),
    };
  },
  indexes: {
    binding: ({ metadata }) => {
      const binding = metadata.labels?.[labels.parentBinding];
      return binding === undefined ? [] : [keyOf(metadata.labels?.[labels.parentPlacementNamespace], binding)];
    },
    base: ({ metadata }) => {
      const base = workBaseIn(metadata.name ?? '');
      return base === undefined ? [] : [keyOf(metadata.namespace, base)];
    },
  },
};

function statusesOf(
  destination: string | undefined,
  entries: readonly ManifestCondition[] = [],
): Pick<HubWork, 'statuses'> {
  if (destination !== 'OriginalResource') return {};
  const all = entries.flatMap(({ identifier, backReportedStatus: back }) =>
    back?.observedStatus === undefined ? [] : [[identifier, back.observedStatus]],
  );
  return all.length === 0 ? {} : { statuses: sha256(canonicalJson(all)).slice(0, 32) };
}

const isSameOrder = (a: ObjectMeta, b: ObjectMeta): boolean =>
  a.generation !== undefined && a.generation === b.generation && a.uid === b.uid;

const isWorthTelling = ({ conditions, driftDetails, diffDetails }: ManifestCondition): boolean =>
  driftDetails !== undefined ||
  diffDetails !== undefined ||
  conditionOf(conditions, 'DiffReported')?.status === 'False' ||
  conditionOf(conditions, 'Applied')?.status === 'False' ||
  conditionOf(conditions, 'Available')?.status === 'False';

/** In process, objects share their unchanged parts: a list is hashed once, however often the status is written. */
const known = new WeakMap<object, string>();

export function contentOf(manifests: readonly unknown[]): string {
  const before = known.get(manifests);
  if (before !== undefined) return before;
  const content = sha256(manifests.map(hashOf).join(' ')).slice(0, 32);
  known.set(manifests, content);
  return content;
}

/** Overrides change few of the objects of a revision: the others are hashed once for all clusters. */
function hashOf(manifest: unknown): string {
  const isKept = typeof manifest === 'object' && manifest !== null && Object.isFrozen(manifest);
  const before = isKept ? known.get(manifest) : undefined;
  if (before !== undefined) return before;
  const hash = sha256(canonicalJson(manifest));
  if (isKept) known.set(manifest, hash);
  return hash;
}
