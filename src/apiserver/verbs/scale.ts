// The scale subresource: one number of an object, shown and changed as autoscaling/v1 Scale.
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { badRequest, invalid, invalidValue, modified, noSuchResource } from '../../api/status.ts';
import { isObject, type Json, mutableCopy } from '../../base/json.ts';
import { compileLabelMap, compileLabelSelector, formatSelector, type LabelSelector } from '../../base/selector.ts';
import type { Cluster } from '../cluster.ts';
import type { Draft, ScaleShape, ServedResource } from '../registry.ts';
import { objectIn, unsaved } from '../represent.ts';
import type { Stored } from '../store/store.ts';
import { appliedTo } from './applied.ts';
import type { At, Caller, Written } from './call.ts';
import { change } from './change.ts';
import { type ManagedFields, trackedFields } from './field-owners.ts';
import { headOf } from './head.ts';
import { type Patch, patchedValue } from './patched.ts';

export function scaleOf(resource: ServedResource, stored: Stored): Stored {
  const shape = shapeOf(resource);
  const object = stored.object();
  const { name, namespace, uid, creationTimestamp } = object.metadata;
  const selector = selectorText(object, shape);
  const replicas = numberAt(object, shape.specReplicasPath);
  return unsaved(stored.key, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, uid, resourceVersion: String(stored.revision), creationTimestamp },
    // A typed server leaves the zero out here, and here only.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, shape.statusReplicasPath), ...(selector === '' ? {} : { selector }) },
  });
}

export async function updateScale(cluster: Cluster, at: At, body: unknown, caller: Caller): Promise<Written> {
  return writeScale(cluster, at, body, headOf(cluster, at), caller);
}

export async function patchScale(cluster: Cluster, at: At, asked: Patch, caller: Caller): Promise<Written> {
  const old = headOf(cluster, at);
  // A Scale has no lists with keys: a strategic patch of it is a merge patch.
  if (asked.type === 'apply') return applyScale(cluster, at, asked, old, caller);
  const type = asked.type === 'strategic' ? 'merge' : asked.type;
  const shown = scaleOf(at.resource, old).object();
  return writeScale(cluster, at, patchedValue(at, shown as Json, { ...asked, type }), old, caller);
}

/** An applied Scale is an applied configuration of the object that says nothing but its number of replicas. */
async function applyScale(cluster: Cluster, at: At, asked: Patch, old: Stored, caller: Caller): Promise<Written> {
  const { resource, version, name = '' } = at;
  const { specReplicasPath } = shapeOf(resource);
  const body = isObject(asked.body) ? asked.body : {};
  if (body['apiVersion'] !== 'autoscaling/v1' || body['kind'] !== 'Scale') {
    throw badRequest(`invalid object type: ${body['apiVersion'] ?? ''}, Kind=${body['kind'] ?? ''}`);
  }
  const config = { apiVersion: apiVersionOf(resource.group, version.version), kind: resource.kind, metadata: { name } };
  const replicas = (body['spec'] as Record<string, unknown> | undefined)?.['replicas'];
  if (replicas !== undefined) setAt(config as Draft, specReplicasPath, replicas as number);
  const live = objectIn(resource, version, old);
  const now = cluster.clock.now();
  const { object, managedFields } = appliedTo({ at, live, config, force: asked.force === true, caller, now });
  const applied = { ...body, spec: { replicas: numberAt(object, specReplicasPath) } };
  return writeScale(cluster, at, applied, old, caller, managedFields);
}

async function writeScale(
  cluster: Cluster,
  at: At,
  scale: unknown,
  old: Stored,
  caller: Caller,
  applied?: ManagedFields,
): Promise<Written> {
  const { resource, name = '' } = at;
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
  if (replicas < 0) {
    const why = 'must be greater than or equal to 0';
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [invalidValue('spec.replicas', replicas, why)]);
  }
  const draft = mutableCopy(old.object()) as Draft;
  setAt(draft, shape.specReplicasPath, replicas);
  const { subresource: _scale, ...main } = at;
  const track = { at, before: old.object(), next: draft, sent: undefined, caller, now: cluster.clock.now() };
  const written = await change(cluster, main, draft, old, caller, applied ?? trackedFields(track));
  return { stored: scaleOf(resource, written.stored), created: false };
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

/** Custom kinds keep the selector as text; built-in ones as a LabelSelector, and ReplicationControllers as a plain map. */
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
