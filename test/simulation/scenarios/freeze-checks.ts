// Nothing moves while frozen or paused, observed from outside: from the objects on the server and the writes to
// bindings that hubs send.
import type { Binding } from '../../../src/api/binding.ts';
import { type FreezeSpec, freeze as freezes } from '../../../src/api/freeze.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Placement } from '../../../src/api/placement.ts';
import type { Request } from '../../../src/api/transport.ts';
import { deepEqual, isObject } from '../../../src/base/json.ts';
import { clusterFamily } from '../../../src/hub/families.ts';
import { type Checker, changeChecker } from '../../../src/sim/check.ts';
import { isBinding, isDeleting } from './rollout-world.ts';

export interface FrozenWorld {
  /** A cluster-scoped placement. */
  readonly placement: string;
  partOf(cluster: string): string | undefined;
  /** The maximum clock skew, in either direction. */
  readonly skewMs: number;
}

/** How long a hub may not have seen a Freeze: a watch without events, and a lost list after it. */
export const BEHIND_MS = 120_000;

interface Known {
  readonly spec: FreezeSpec;
  /** The true time of its last change. */
  readonly since: number;
}

/**
 * A hub decides with its cache, so a write is judged when it is sent, and by the freezes that have been unchanged for a
 * while. An earlier write may arrive late, even after its sender has died.
 */
export function nothingMovesWhileFrozen({ placement, partOf, skewMs }: FrozenWorld): Checker {
  const known = new Map<string, Known>();
  const bindings = new Map<string, Binding>();
  const follow = changeChecker('freezes', ({ stored, deleted }, _server, { now }) => {
    const object = stored.object();
    const { name = '' } = object.metadata;
    if (isBinding(object)) {
      if (deleted) bindings.delete(name);
      else bindings.set(name, object);
    } else if (isFreeze(object)) {
      const spec = object.spec as FreezeSpec;
      if (deleted || isDeleting(object)) known.delete(name);
      else if (!deepEqual(known.get(name)?.spec, spec)) known.set(name, { spec, since: now });
    }
    return undefined;
  });
  const covers = ({ placements, clusterSelector }: FreezeSpec, cluster: string): boolean =>
    (placements === undefined || placements.some((each) => each.name === placement && each.namespace === undefined)) &&
    (clusterSelector === undefined || clusterSelector.matchLabels?.['part'] === partOf(cluster));
  const holdsAt = ({ spec, since }: Known, now: number): boolean =>
    now - since > BEHIND_MS && (spec.until === undefined || Date.parse(spec.until) > now + skewMs);
  return {
    name: 'nothing moves while frozen',
    look: (sight) => follow.look?.(sight),
    hear(happening, { now }) {
      if (happening.what !== 'sent' || !happening.who.startsWith('hub-')) return undefined;
      const binding = bindings.get(happening.request.at.name ?? '');
      if (binding === undefined) return undefined;
      const does = moved(happening.request, binding);
      if (does === undefined) return undefined;
      const { targetCluster } = binding.spec;
      const [name] = [...known].find(([, each]) => holdsAt(each, now) && covers(each.spec, targetCluster)) ?? [];
      return name && `${happening.who} ${does} on ${targetCluster}, which ${name} has frozen`;
    },
  };
}

/** A write is checked when it is sent, against a pause that every hub must have seen. */
export function nothingMovesWhilePaused(placement: string): Checker {
  const bindings = new Map<string, Binding>();
  let pausedSince: number | undefined;
  const follow = changeChecker('pauses', ({ stored, deleted }, _server, { now }) => {
    const object = stored.object();
    const { name = '' } = object.metadata;
    if (isBinding(object)) {
      if (deleted) bindings.delete(name);
      else bindings.set(name, object);
    } else if (object.kind === clusterFamily.placement.kind && name === placement) {
      const isPaused = (object as Placement).spec.strategy?.paused === true;
      pausedSince = isPaused ? (pausedSince ?? now) : undefined;
    }
    return undefined;
  });
  return {
    name: 'nothing moves while paused',
    look: (sight) => follow.look?.(sight),
    hear(happening, { now }) {
      if (happening.what !== 'sent' || !happening.who.startsWith('hub-')) return undefined;
      if (pausedSince === undefined || now - pausedSince <= BEHIND_MS) return undefined;
      const binding = bindings.get(happening.request.at.name ?? '');
      const does = binding && moved(happening.request, binding);
      return does && `${happening.who} ${does} on ${binding.spec.targetCluster} although the placement is paused`;
    },
  };
}

const isFreeze = ({ kind }: KubeObject): boolean => kind === freezes.kind;

/** The fields of a binding that determine the content on the member. */
const CONTENT = [
  'resourceSnapshotName',
  'applyStrategy',
  'resourceOverrideSnapshots',
  'clusterResourceOverrideSnapshots',
] as const;

/** The effect of a request on a cluster; undefined = none. A decision alone moves nothing. */
function moved(request: Request, { kind, metadata, spec }: Binding): string | undefined {
  if (
    request.at.resource.kind !== kind ||
    request.at.subresource !== undefined ||
    isDeleting({ kind, metadata } as Binding)
  )
    return undefined;
  // A cluster that was picked and unpicked again has nothing.
  if (request.verb === 'delete') return (spec.resourceSnapshotName ?? '') === '' ? undefined : 'removes what is placed';
  if (request.verb !== 'patch') return undefined;
  const { body } = request.patch;
  const change = isObject(body) ? body['spec'] : undefined;
  if (!isObject(change)) return undefined;
  if (change['state'] === 'Bound' && spec.state === 'Scheduled') return 'places something';
  const changed = CONTENT.find((field) => field in change && !deepEqual(change[field], spec[field]));
  return changed === undefined || spec.state === 'Scheduled' ? undefined : `changes ${changed}`;
}
