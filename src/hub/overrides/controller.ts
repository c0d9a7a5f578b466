// Creates the snapshots of overrides: what it watches and observes. Orders decide which clusters get them
// (orders/observe.ts), and the work generator applies them.
import { fieldManagers, labels } from '../../api/names.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { deepEqual } from '../../base/json.ts';
import { refTo } from '../../runtime/actions.ts';
import { keyOf, partsOf } from '../../runtime/cache.ts';
import { type Controller, type FullRef, isNeed, type Need, type View } from '../../runtime/controller.ts';
import { families } from '../families.ts';
import { isInitialized, isOver } from '../staged-sources.ts';
import { decide, type Observed } from './decide.ts';
import type { HubOverride, HubOverrideSnapshot } from './matching.ts';
import { refusalOf } from './refusal.ts';
import type { OverrideFamily } from './sources.ts';

const keyOfOverride = ({ metadata }: HubOverride): string => keyOf(metadata.namespace, metadata.name ?? '');

/** Snapshots beyond this number are kept only if they are in use. */
const HISTORY_LIMIT = 10;

interface Memory {
  /** The refusal that was reported. After a restart it is reported once more. */
  reported: string | undefined;
}

export function overrideController(family: OverrideFamily): Controller<Observed, Memory> {
  const { overrides, snapshots } = family;
  return {
    name: `overrides/${overrides.resource.kind}`,
    eventSource: fieldManagers.override,
    watches: [
      {
        source: overrides,
        // If its selectors change, or it is added or deleted, other overrides of the namespace may come into force or
        // not.
        toKeys(item: HubOverride, view: View, old?: HubOverride) {
          const isAsBefore = old !== undefined && deepEqual(item.selectors, old.selectors);
          return isAsBefore ? [keyOfOverride(item)] : neighborsOf(view, item).map(keyOfOverride);
        },
      },
      {
        source: snapshots,
        toKeys: ({ metadata, override }: HubOverrideSnapshot) => [keyOf(metadata.namespace, override)],
      },
      ...families.flatMap(({ bindings, runs }) => [
        // Only read: a snapshot that is no longer in use is deleted with the next change of its override.
        { source: bindings, toKeys: () => [] },
        { source: runs, toKeys: () => [] },
      ]),
    ],

    memory: () => ({ reported: undefined }),

    observe(view, key, memory) {
      const { name, namespace } = partsOf(key);
      const override = view.get(overrides, name, namespace);
      if (override === undefined) return undefined;
      const isDeleting = override.metadata.deletionTimestamp !== undefined;
      // The cache may be stale: an unseen snapshot would be orphaned, or its index used twice.
      const part = { ...(namespace === undefined ? {} : { namespace }), labels: `${labels.parentOverride}=${name}` };
      if (isDeleting && view.isRefreshed?.(snapshots, part) === false)
        return { need: [], ask: [{ source: snapshots, part }] };
      const own = view.by(snapshots, 'override', key);
      const inUse = isDeleting || own.length <= HISTORY_LIMIT ? new Set<string>() : namesInUse(view);
      if (isNeed(inUse)) return inUse;
      const refusal = isDeleting ? undefined : refusalOf(override, view.all(overrides, namespace));
      const isReported = refusal !== undefined && memory.reported === refusal;
      memory.reported = refusal;
      return {
        family,
        override,
        snapshots: own,
        ...(refusal === undefined ? {} : { refusal }),
        isReported,
        isInUse: (snapshot) => {
          const text = keyOf(namespace, snapshot);
          return inUse.has(text) || families.some(({ bindings }) => view.by(bindings, 'override', text).length > 0);
        },
      };
    },

    decide,
  };

  function neighborsOf(view: View, item: HubOverride): readonly HubOverride[] {
    const others = view.all(overrides, item.metadata.namespace);
    return [item, ...others.filter(({ metadata }) => metadata.uid !== item.metadata.uid)];
  }
}

/** Keys of snapshots that unfinished runs have recorded. */
function namesInUse(view: View): ReadonlySet<string> | Need {
  const refs = families.flatMap(({ run, runs }) =>
    view
      .all(runs)
      .filter((each) => !isOver(each) && isInitialized(each))
      .map((each): FullRef => ({ on: 'hub', resource: run, ...refTo(run, each) })),
  );
  const need = refs.filter((ref) => view.getFull(ref) === undefined);
  if (need.length > 0) return { need };
  const clusters = refs.flatMap((ref) =>
    ((view.getFull(ref) as StagedUpdateRun | null)?.status?.stagesStatus ?? []).flatMap((stage) => stage.clusters),
  );
  return new Set(
    clusters.flatMap(({ clusterResourceOverrideSnapshots: wide = [], resourceOverrideSnapshots: narrow = [] }) => [
      ...wide,
      ...narrow.map(({ namespace, name }) => keyOf(namespace, name)),
    ]),
  );
}
