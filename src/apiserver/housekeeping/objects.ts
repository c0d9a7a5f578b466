// Reads and writes of housekeeping: the newest state, single objects, always conditional on the revision that was read.
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/object.ts';
import { groupVersionOf } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import type { Cluster } from '../cluster.ts';
import type { Found, ServedResource } from '../registry.ts';
import { RecordStored } from '../store/record-stored.ts';
import { keyOf, type Stored } from '../store/store.ts';
import type { At, Caller, DeleteOptions } from '../verbs/call.ts';
import { isFinished } from '../verbs/change.ts';
import { withOwners } from '../verbs/field-owners.ts';

/** The verb DELETE, see verbs/delete.ts. */
export type Remove = (cluster: Cluster, at: At, options: DeleteOptions, caller: Caller) => Promise<unknown>;

export interface KeyParts {
  readonly group: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
}

/** Parses a key made by keyOf: group, plural and namespace have no slash, the name is the rest. */
export function partsOf(key: string): KeyParts {
  const first = key.indexOf('/');
  const second = key.indexOf('/', first + 1);
  const third = key.indexOf('/', second + 1);
  return {
    group: key.slice(0, first),
    plural: key.slice(first + 1, second),
    namespace: key.slice(second + 1, third),
    name: key.slice(third + 1),
  };
}

const MANAGER = 'kube-controller-manager';

/** The caller: a controller of the system, with the name that audit logs and field managers would have. */
export const controller = (name: string): Caller => ({
  user: {
    name: `system:serviceaccount:kube-system:${name}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  },
  manager: MANAGER,
  dryRun: false,
  fieldValidation: 'Ignore',
  warn: () => {},
});

export const headOf = (cluster: Cluster, key: string): Stored | undefined => cluster.store.get(key, 'head');

/** The resource of a key, in its storage version; undefined if it is not served (any more). */
export function resourceAt(cluster: Cluster, { group, plural }: KeyParts): ServedResource | undefined {
  return cluster.registry.all().find((each) => each.group === group && each.plural === plural && !each.keptAs);
}

/** The kind that an owner reference names, if it is served. */
export function kindOf(cluster: Cluster, { apiVersion, kind }: OwnerReference): Found | undefined {
  const { group, version } = groupVersionOf(apiVersion);
  return cluster.registry.findKind(group, kind, version) ?? cluster.registry.findKind(group, kind);
}

/** Creates an object with the metadata that the server sets. */
export async function createObject(
  cluster: Cluster,
  key: string,
  object: Omit<KubeObject, 'metadata'> & { readonly metadata: ObjectMeta },
): Promise<void> {
  const { name, namespace, ...rest } = object.metadata;
  const metadata: ObjectMeta = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    uid: cluster.random.uuid(),
    creationTimestamp: kubeTime(cluster.clock.now()),
    ...rest,
  };
  await cluster.store.commit({ key, expect: 'absent', value: { ...object, metadata } as KubeObject }).durable;
}

export async function replaceObject(
  cluster: Cluster,
  old: Stored,
  value: KubeObject,
  subresource?: 'status',
): Promise<void> {
  const next = owned(cluster, old, value, subresource);
  await cluster.store.commit({ key: old.key, expect: old.revision, value: next }).durable;
}

function owned(cluster: Cluster, old: Stored, next: KubeObject, subresource?: 'status'): KubeObject {
  const parts = partsOf(old.key);
  const resource = resourceAt(cluster, parts);
  if (resource === undefined) return next;
  const { namespace, name } = parts;
  const at: At = {
    ...{ resource, version: resource.stored, namespace, name },
    ...(subresource === undefined ? {} : { subresource }),
  };
  return withOwners(at, old.object(), next, { manager: MANAGER, now: cluster.clock.now() });
}

/** Removes one finalizer; if it was the last reason to keep a deleted object, the object is deleted. */
export async function release(cluster: Cluster, old: Stored, finalizer: string): Promise<void> {
  const before = old.object();
  const { finalizers = [], ...metadata } = before.metadata;
  const left = finalizers.filter((each) => each !== finalizer);
  if (left.length === finalizers.length) return;
  const released: KubeObject = { ...before, metadata: left.length > 0 ? { ...metadata, finalizers: left } : metadata };
  const value = owned(cluster, old, released);
  const resource = resourceAt(cluster, partsOf(old.key));
  const isGone = resource !== undefined && isFinished(resource, value);
  await cluster.store.commit({ key: old.key, expect: old.revision, value: isGone ? undefined : value }).durable;
}

/** False if the object certainly does not contain the text: avoids parsing it after a restart. */
export function mayMention(stored: Stored, text: string): boolean {
  return !(stored instanceof RecordStored) || (stored.bytes() as Buffer).includes(text);
}

export const namespaceKey = (name: string): string => keyOf('', 'namespaces', '', name);
