// Empties a namespace that is being deleted, then removes its finalizer. Pods are deleted first, so that objects they
// need do not disappear under them; the rest follows when the last Pod is deleted. The conditions report what blocks
// the deletion, with the messages of a real server.
import type { KubeObject } from '../../api/object.ts';
import { kubeTime } from '../../base/clock.ts';
import { by, byText } from '../../base/compare.ts';
import { ApiError } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import type { Cluster } from '../cluster.ts';
import type { ServedResource } from '../registry.ts';
import { prefixOf, type Stored } from '../store/store.ts';
import type { Loop } from './loop.ts';
import { controller, headOf, namespaceKey, partsOf, type Remove, replaceObject } from './objects.ts';

const FINALIZER = 'kubernetes';
const PREFIX = prefixOf('', 'namespaces');
const AT_ONCE = 64;
const CALLER = controller('namespace-controller');

export function namespaceLifecycle(cluster: Cluster, remove: Remove): Loop {
  const terminating = new Set<string>();

  return {
    name: 'namespace lifecycle',
    reset: () => terminating.clear(),
    notice({ key, stored, deleted }, want) {
      if (key.startsWith(PREFIX)) {
        const { name } = partsOf(key);
        if (deleted) terminating.delete(name);
        else if (stored.object().metadata.deletionTimestamp !== undefined) {
          terminating.add(name);
          want(name);
        }
      } else if (terminating.size > 0) {
        const { namespace } = partsOf(key);
        if (terminating.has(namespace)) want(namespace);
      }
    },
    async work(name) {
      const stored = headOf(cluster, namespaceKey(name));
      if (stored === undefined || !isOurs(stored.object())) return;
      const left = await empty(cluster, remove, name);
      const now = headOf(cluster, stored.key);
      if (now === undefined || !isOurs(now.object())) return;
      if (left.objects.length === 0 && left.failures.length === 0) await finalize(cluster, now);
      else await report(cluster, now, left);
      // Written to the conditions first, then retried by the caller.
      if (left.failures.length > 0) throw left.failures[0];
    },
  };
}

const finalizersOf = (object: KubeObject): readonly string[] =>
  (object.spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? [];

const isOurs = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && finalizersOf(object).includes(FINALIZER);

interface Left {
  readonly objects: readonly Stored[];
  readonly failures: readonly unknown[];
}

/** Deletes objects that are not being deleted yet; returns those that still exist. */
async function empty(cluster: Cluster, remove: Remove, namespace: string): Promise<Left> {
  const resources = cluster.registry
    .all()
    .filter(({ namespaced, keptAs, verbs }) => namespaced && !keptAs && verbs.includes('delete'));
  const pods = resources.filter(({ group, plural }) => group === '' && plural === 'pods');
  const first = await removeAll(cluster, remove, namespace, pods);
  if (first.objects.length > 0) return first;
  return removeAll(cluster, remove, namespace, resources);
}

async function removeAll(
  cluster: Cluster,
  remove: Remove,
  namespace: string,
  resources: readonly ServedResource[],
): Promise<Left> {
  const failures: unknown[] = [];
  for (const resource of resources) {
    const { items } = cluster.store.range(prefixOf(resource.group, resource.plural, namespace));
    const fresh = items.filter((each) => headOf(cluster, each.key)?.object().metadata.deletionTimestamp === undefined);
    for (let start = 0; start < fresh.length; start += AT_ONCE) {
      await Promise.all(
        fresh.slice(start, start + AT_ONCE).map(async (each) => {
          const { name, uid } = each.object().metadata;
          const at = { resource, version: resource.stored, namespace, name: name as string };
          const preconditions = uid === undefined ? {} : { uid };
          try {
            await remove(cluster, at, { propagation: 'Background', preconditions }, CALLER);
          } catch (error) {
            // Deleted or replaced meanwhile: that change enqueues the namespace again.
            if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) failures.push(error);
          }
        }),
      );
    }
  }
  const objects = resources.flatMap(({ group, plural }) =>
    cluster.store.range(prefixOf(group, plural, namespace)).items.filter((each) => headOf(cluster, each.key)),
  );
  return { objects, failures };
}

async function finalize(cluster: Cluster, stored: Stored): Promise<void> {
  const object = stored.object();
  const finalizers = finalizersOf(object).filter((each) => each !== FINALIZER);
  const value = { ...object, spec: finalizers.length > 0 ? { finalizers } : {} };
  const isGone = finalizers.length === 0 && (object.metadata.finalizers ?? []).length === 0;
  const write = { key: stored.key, expect: stored.revision, value: isGone ? undefined : value };
  await cluster.store.commit(write).durable;
}

// ---- conditions

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

async function report(cluster: Cluster, stored: Stored, left: Left): Promise<void> {
  const object = stored.object();
  const status = (object.status ?? {}) as { conditions?: readonly Condition[] };
  const conditions = conditionsOf(left, status.conditions ?? [], kubeTime(cluster.clock.now()));
  if (deepEqual(conditions, status.conditions ?? [])) return;
  await replaceObject(cluster, stored, { ...object, status: { ...status, conditions } }, 'status');
}

/** The conditions of a namespace that cannot be deleted yet. Pure. */
export function conditionsOf(left: Left, before: readonly Condition[], now: string): readonly Condition[] {
  const told = [
    condition('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    left.failures.length === 0
      ? condition(
          'NamespaceDeletionContentFailure',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : problem(
          'NamespaceDeletionContentFailure',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${left.failures.length} remaining: ${texts(left.failures)}`,
        ),
    left.objects.length === 0
      ? condition('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : problem(
          'NamespaceContentRemaining',
          'SomeResourcesRemain',
          `Some resources are remaining: ${countsByResource(left.objects)}`,
        ),
    countsByFinalizer(left.objects) === ''
      ? condition(
          'NamespaceFinalizersRemaining',
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        )
      : problem(
          'NamespaceFinalizersRemaining',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${countsByFinalizer(left.objects)}`,
        ),
  ];
  const types = new Set(told.map((each) => each.type));
  return [
    ...before.filter((each) => !types.has(each.type)),
    ...told.map((each) => {
      const old = before.find(({ type }) => type === each.type);
      return { ...each, lastTransitionTime: old?.status === each.status ? old.lastTransitionTime : now };
    }),
  ];
}

type Told = Omit<Condition, 'lastTransitionTime'>;
const condition = (type: string, reason: string, message: string): Told => ({ type, status: 'False', reason, message });
const problem = (type: string, reason: string, message: string): Told => ({ type, status: 'True', reason, message });

const texts = (failures: readonly unknown[]): string =>
  failures
    .map((each) => (each instanceof Error ? each.message : String(each)))
    .sort(byText)
    .join(', ');

function counted(words: Iterable<string>, print: (word: string, count: number) => string): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .sort(by(([word]) => word))
    .map(([word, count]) => print(word, count))
    .join(', ');
}

const countsByResource = (objects: readonly Stored[]): string =>
  counted(
    objects.map(({ key }) => `${partsOf(key).plural}.${partsOf(key).group}`),
    (resource, count) => `${resource} has ${count} resource instances`,
  );

const countsByFinalizer = (objects: readonly Stored[]): string =>
  counted(
    objects.flatMap((stored) => stored.object().metadata.finalizers ?? []),
    (finalizer, count) => `${finalizer} in ${count} resource instances`,
  );
