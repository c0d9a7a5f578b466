// The snapshots of one override: a new one if its spec changes. Guarantees: one is always the latest, indexes only
// grow, and a snapshot that a binding or an unfinished run references is kept unless the override itself is deleted.
import { finalizers, labels, overrideSnapshotName } from '../../api/names.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson, deepEqual } from '../../base/json.ts';
import { create, patch, recordEvent, remove, seen } from '../../runtime/actions.ts';
import { type Action, type Decision, idle } from '../../runtime/controller.ts';
import { isLatest } from '../placement-sources.ts';
import { expired, nextIndex } from '../revisions/history.ts';
import { newestIn } from './in-force.ts';
import type { HubOverride, HubOverrideSnapshot } from './matching.ts';
import type { OverrideFamily } from './sources.ts';

export interface Observed {
  readonly family: OverrideFamily;
  readonly override: HubOverride;
  readonly snapshots: readonly HubOverrideSnapshot[];
  /** Why it is not in force; absent = it is. */
  readonly refusal?: string;
  /** The refusal was reported before. */
  readonly isReported: boolean;
  /** Whether bindings or unfinished runs reference a snapshot; called only if the history is too long. */
  isInUse(name: string): boolean;
}

const HISTORY_LIMIT = 10;

export function decide(observed: Observed): Decision {
  const { family, override, snapshots, refusal } = observed;
  const { finalizers: held = [], deletionTimestamp } = override.metadata;
  const isHeld = held.includes(finalizers.overrideCleanup);
  if (deletionTimestamp !== undefined) return isHeld ? cleanUp(observed) : idle('it is being deleted');
  if (refusal !== undefined) return refused(observed, refusal);
  const newest = newestIn(snapshots);
  if (newest !== undefined && deepEqual(newest.spec, override.spec)) return settle(observed, newest);
  const index = nextIndex(snapshots.map((each) => each.index));
  const because = `takes snapshot ${index}`;
  const all = [...held, finalizers.overrideCleanup];
  const hold = patch(seen(family.overrides, override), { metadata: { finalizers: all } }, 'will have snapshots');
  const made = create('hub', family.snapshots.resource, snapshotOf(observed, index), because);
  // The new snapshot is created before the old one is demoted, so that there always is a latest.
  const demoted = snapshots.filter(isLatest).map((each) => labeled(family, each, 'false', 'a newer one is the latest'));
  return { steps: steps(isHeld ? [] : [hold], [made], demoted), holds: [], because };
}

const steps = (...all: readonly (readonly Action[])[]): Decision['steps'] => all.filter((step) => step.length > 0);

const labeled = (family: OverrideFamily, snapshot: HubOverrideSnapshot, value: string, because: string): Action =>
  patch(seen(family.snapshots, snapshot), { metadata: { labels: { [labels.isLatestSnapshot]: value } } }, because);

function settle(observed: Observed, newest: HubOverrideSnapshot): Decision {
  const { family, snapshots, isInUse } = observed;
  const restored = isLatest(newest) ? [] : [labeled(family, newest, 'true', 'it is the latest')];
  const demoted = snapshots
    .filter((each) => each !== newest && isLatest(each))
    .map((each) => labeled(family, each, 'false', 'a newer one is the latest'));
  const relabeled = restored.length + demoted.length;
  const gone =
    relabeled > 0
      ? []
      : expired(
          snapshots.map((each) => ({
            index: each.index,
            items: [each],
            isReferenced: isInUse(each.metadata.name ?? ''),
          })),
          HISTORY_LIMIT,
        ).map((each) => remove(seen(family.snapshots, each), 'older than the history that is kept'));
  return {
    steps: steps(restored, demoted, gone),
    holds: [],
    because: `snapshot ${newest.index} is the latest`,
  };
}

/** Bindings that reference its snapshots keep their Works, and move on within their budget. */
function cleanUp({ family, override, snapshots }: Observed): Decision {
  const left = snapshots.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (left.length > 0) {
    const because = `deletes ${left.length} snapshots`;
    return { steps: [left.map((each) => remove(seen(family.snapshots, each), because))], holds: [], because };
  }
  const others = (override.metadata.finalizers ?? []).filter((each) => each !== finalizers.overrideCleanup);
  const because = 'no snapshot is left';
  const change = { metadata: { finalizers: others.length === 0 ? null : others } };
  return { steps: [[patch(seen(family.overrides, override), change, because)]], holds: [], because };
}

/** The snapshot that was in force stays in force. */
function refused({ family, override, isReported }: Observed, message: string): Decision {
  if (isReported) return idle(message);
  const event = recordEvent(family.overrides, override, { type: 'Warning', reason: 'OverrideNotInForce', message });
  return { steps: [[event]], holds: [], because: message };
}

function snapshotOf({ family, override }: Observed, index: number): KubeObject {
  const { group, version, kind } = family.snapshots.resource;
  const { name = '', namespace, uid = '' } = override.metadata;
  const owner = { apiVersion: apiVersionOf(override.resource.group, override.resource.version), name, uid };
  return {
    apiVersion: apiVersionOf(group, version),
    kind,
    metadata: {
      name: overrideSnapshotName(name, index),
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        [labels.parentOverride]: name,
        [labels.isLatestSnapshot]: 'true',
        [labels.overrideIndex]: String(index),
      },
      ownerReferences: [{ ...owner, kind: override.resource.kind, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      overrideSpec: override.spec,
      overrideHash: Buffer.from(sha256(canonicalJson(override.spec))).toString('base64'),
    },
  };
}
