// The scale subresource: the replicas of an object, as autoscaling/v1 Scale.

import { kindSchema } from '../../api/builtin/types.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { badRequest, internalError, invalid, invalidValue, modified, noSuchResource } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual, isObject, type Json, mutableCopy } from '../../base/json.ts';
import { compileLabelMap, compileLabelSelector, formatSelector, type LabelSelector } from '../../base/selector.ts';
import type { Cluster } from '../cluster.ts';
import { conflictStatus } from '../managed-fields/conflict-status.ts';
import { objectType } from '../managed-fields/field-type.ts';
import { encodeOwners, type Manager, type Operation, type Owners } from '../managed-fields/managers.ts';
import { apply, BEFORE_FIRST_APPLY, ownersAfterUpdate, type Versions } from '../managed-fields/ownership.ts';
import { ownersOfScale, ownersWithScale, SCALE_VERSION, type ScaledField } from '../managed-fields/scale-owners.ts';
import type { Draft, ScaleShape, ServedResource } from '../registry.ts';
import { objectIn, unsaved } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import { checkConfig, ownersOf } from './applied.ts';
import type { At, Caller, Written } from './call.ts';
import { change } from './change.ts';
import { readable } from './field-owners.ts';
import { headOf } from './head.ts';
import { type Patch, patchedValue } from './patched.ts';

function scaleOf(resource: ServedResource, stored: Stored): Stored {
  const shape = shapeOf(resource);
  const object = stored.object();
  const { name, namespace, uid, creationTimestamp } = object.metadata;
  const selector = selectorText(object, shape);
  const replicas = numberAt(object, shape.specReplicasPath);
  return unsaved(stored.key, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, uid, resourceVersion: String(stored.revision), creationTimestamp },
    // A typed server omits the zero only here.
    spec: specWith(replicas),
    status: { replicas: numberAt(object, shape.statusReplicasPath), ...(selector === '' ? {} : { selector }) },
  });
}

/** Computes the owners of the replicas in a Scale after a write. */
type Tracking = (live: KubeObject, next: KubeObject, owners: Owners) => Owners;

/** GET: a custom object without replicas has no Scale. */
export function readScale(resource: ServedResource, stored: Stored): Stored {
  const { specReplicasPath } = shapeOf(resource);
  if (resource.custom && valueAt(stored.object(), specReplicasPath) === undefined) {
    throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`);
  }
  return scaleOf(resource, stored);
}

export async function updateScale(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written> {
  return writeScale(cluster, at, body, headOf(cluster, at), caller, updatedBy(caller));
}

/** Nothing is tracked while the field has no owner. */
const updatedBy =
  ({ manager }: Caller): Tracking =>
  (live, next, owners) =>
    owners.size === 0
      ? owners
      : ownersAfterUpdate(changeOf(owners, live, next), managerOf(manager, 'Update'), undefined);

export async function patchScale(cluster: Cluster, at: At, asked: Patch, caller: Caller): Promise<Written> {
  const old = headOf(cluster, at);
  if (asked.type === 'apply') return applyScale(cluster, at, asked, old, caller);
  // A Scale has no keyed lists, so a strategic patch is a merge patch.
  const type = asked.type === 'strategic' ? 'merge' : asked.type;
  const patched = patchedValue(at, patchable(at.resource, old) as Json, { ...asked, type });
  return writeScale(cluster, at, patched, old, caller, updatedBy(caller));
}

async function applyScale(cluster: Cluster, at: At, asked: Patch, old: Stored, caller: Caller): Promise<Written> {
  const { resource } = at;
  const config = checkConfig({ ...SCALE, type: SCALES.type }, asked.body);
  const live = patchable(resource, old);
  let owners = ownersOfScale(ownersOf(objectIn(resource, at.version, old).metadata.managedFields), fieldOf(resource));
  if (owners.size === 0) {
    if (resource.custom) {
      const why = 'failed to create manager for existing fields: failed to convert live object (/; ';
      throw new ApiError(500, '', why + NOT_CONVERTED);
    }
    const nothing = { ...SCALE, metadata: {}, spec: {}, status: { replicas: 0 } } as unknown as KubeObject;
    owners = ownersAfterUpdate(changeOf(owners, nothing, live), managerOf(BEFORE_FIRST_APPLY, 'Update'), undefined);
  }
  const by = managerOf(caller.manager, 'Apply');
  const force = asked.force === true;
  const applied = apply({ versions: SCALES, owners, live, config, by, force, time: undefined });
  if ('conflicts' in applied) throw conflictStatus(applied.conflicts);
  if (resource.custom && !deepEqual(applied.object, live)) {
    const { namespace = '', name = '' } = config.metadata;
    throw new ApiError(500, '', `failed to convert new object (${namespace}/${name}; ${NOT_CONVERTED}`);
  }
  return writeScale(cluster, at, applied.object, old, caller, () => applied.owners);
}

/** A real server cannot apply to the Scale of a custom object: it tries to convert the Scale like the object. */
const NOT_CONVERTED =
  'autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1';

async function writeScale(
  cluster: Cluster,
  at: At,
  scale: unknown,
  old: Stored,
  caller: Caller,
  track: Tracking,
): Promise<Written> {
  const { resource, version, name = '' } = at;
  const shape = shapeOf(resource);
  if (!isObject(scale) || !isObject(scale['spec'] ?? {})) throw badRequest('the object provided is not a Scale');
  const metadata = scale['metadata'] as KubeObject['metadata'] | undefined;
  if (metadata?.name !== undefined && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (metadata?.resourceVersion && metadata.resourceVersion !== String(old.revision)) throw modified(resource, name);
  const replicas = (scale['spec'] as Record<string, unknown> | undefined)?.['replicas'] ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest('Scale in version "v1" cannot be handled as a Scale: spec.replicas must be an integer');
  }
  if (resource.custom && replicas === UNSET) {
    throw badRequest(`the spec replicas field ${JSON.stringify(shape.specReplicasPath)} cannot be empty`);
  }
  if (replicas < 0) {
    const why = 'must be greater than or equal to 0';
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [invalidValue('spec.replicas', replicas, why)]);
  }
  const before = old.object();
  const owners = readable(before.metadata.managedFields);
  const live = patchable(resource, old);
  const next = { ...live, spec: specWith(replicas) };
  const field = fieldOf(resource);
  const scaled = track(live, next, ownersOfScale(owners, field));
  const after = ownersWithScale(owners, scaled, field, apiVersionOf(resource.group, version.version));
  const draft = mutableCopy(before) as Draft;
  setAt(draft, shape.specReplicasPath, replicas);
  const { subresource: _scale, ...main } = at;
  const written = await change(cluster, main, draft, old, caller, encodeOwners(after));
  return { stored: scaleOf(resource, written.stored), created: false };
}

// ---- a Scale in server-side apply

const SCALE = { apiVersion: SCALE_VERSION, kind: 'Scale' };
const SCALES: Versions = {
  type: objectType(kindSchema('autoscaling', 'v1', 'Scale')),
  view: () => undefined,
  restrict: (fields) => fields,
};

const changeOf = (owners: Owners, old: KubeObject, next: KubeObject) => ({
  versions: SCALES,
  owners,
  old,
  next,
  apiVersion: SCALE_VERSION,
});

const managerOf = (manager: string, operation: Operation): Manager => ({
  manager: manager === '' ? 'unknown' : manager,
  operation,
  apiVersion: SCALE_VERSION,
  subresource: 'scale',
});

const fieldOf = (resource: ServedResource): ScaledField => ({
  path: stepsOf(shapeOf(resource).specReplicasPath).map((step) => `f:${step}`),
  isVersion: (apiVersion) =>
    resource.versions.some((each) => apiVersionOf(resource.group, each.version) === apiVersion),
});

/** The replicas of a custom object without them, as seen by a patch. */
const UNSET = -(2 ** 31);

const specWith = (replicas: number): { readonly replicas?: number } => (replicas === 0 ? {} : { replicas });

/** The Scale that is the input of a patch. */
function patchable(resource: ServedResource, stored: Stored): KubeObject {
  const scale = scaleOf(resource, stored).object();
  const isUnset = resource.custom && valueAt(stored.object(), shapeOf(resource).specReplicasPath) === undefined;
  return isUnset ? { ...scale, spec: { replicas: UNSET } } : scale;
}

function shapeOf(resource: ServedResource): ScaleShape {
  if (!resource.scale) throw noSuchResource();
  return resource.scale;
}

const stepsOf = (path: string): readonly string[] => path.split('.').filter((step) => step !== '');

function valueAt(object: KubeObject, path: string): unknown {
  let value: unknown = object;
  for (const step of stepsOf(path)) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

const numberAt = (object: KubeObject, path: string): number => {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
};

function setAt(draft: Draft, path: string, value: number): void {
  const steps = stepsOf(path);
  let place: Record<string, unknown> = draft;
  for (const step of steps.slice(0, -1)) {
    if (!isObject(place[step])) place[step] = {};
    place = place[step] as Record<string, unknown>;
  }
  place[steps.at(-1) as string] = value;
}

/**
 * Custom kinds store the selector as a string; built-in ones as a LabelSelector, and ReplicationControllers as a map.
 */
function selectorText(object: KubeObject, shape: ScaleShape): string {
  if (shape.labelSelectorPath === undefined) return '';
  const value = valueAt(object, shape.labelSelectorPath);
  if (typeof value === 'string') return value;
  if (!isObject(value)) return '';
  const isSelector = 'matchLabels' in value || 'matchExpressions' in value;
  return formatSelector(
    isSelector ? compileLabelSelector(value as LabelSelector) : compileLabelMap(value as Record<string, string>),
  );
}
