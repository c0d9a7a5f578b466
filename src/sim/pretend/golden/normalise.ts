// Normalizes a cluster's state for the comparison: keeps everything that a workload controller writes, and replaces
// names with hashes or random parts, and times.
import { byText } from '../../../base/compare.ts';
import { canonicalJson, isObject } from '../../../base/json.ts';

/** By plural. */
export type State = Readonly<Record<string, readonly Item[]>>;
type Item = Readonly<Record<string, unknown>> & { readonly metadata: Readonly<Record<string, unknown>> };

export const COMPARED: Readonly<Record<string, string>> = {
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  controllerrevisions: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  pods: '/api/v1',
  persistentvolumeclaims: '/api/v1',
};

/** Not compared: the server's own fields and those of other clients. */
const DROPPED: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'namespace',
  'apiVersion',
  'generation',
  // Kubernetes counts a Job's Pods with finalizers; here the existing ones are counted.
  'finalizers',
  'volumes',
  'volumeMounts',
]);

/** Which of these reasons appears during a rollout depends on how fast one controller sees the writes of another. */
const UNDER_WAY: ReadonlySet<unknown> = new Set(['NewReplicaSetCreated', 'ReplicaSetUpdated', 'FoundNewReplicaSet']);

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const NODE = /^golden-[a-z]$/;
const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;

export function normalise(state: State): State {
  const names = hashNames(state);
  const words = (text: string): string => {
    if (MOMENT.test(text)) return '<time>';
    if (UID.test(text)) return '<uid>';
    // The first node of a DaemonSet is random, too.
    if (NODE.test(text)) return '<node>';
    for (const [hash, stands] of names) text = text.replaceAll(hash, stands);
    return text;
  };
  const condition = (value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    UNDER_WAY.has(value['reason']) ? { ...value, reason: '<under way>', message: '<under way>' } : value;
  const clean = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return words(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => clean(item));
      return key === 'conditions' ? items.toSorted((a, b) => byText(canonicalJson(a), canonicalJson(b))) : items;
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(condition(value))
        .filter(([field]) => !DROPPED.has(field))
        .map(([field, inner]) => [words(field), clean(inner, field)]),
    );
  };
  return Object.fromEntries(
    Object.entries(state)
      .filter(([, items]) => items.length > 0)
      .map(([plural, items]) => [plural, compact(items.map((item) => clean(written(plural, item)) as Item))]),
  );
}

/** The fields that a controller writes: for objects of users, only metadata and status. */
function written(plural: string, item: Item): Item {
  if (plural === 'pods') return podOf(item);
  const { spec, ...rest } = plain(item);
  return plural === 'replicasets' || plural === 'persistentvolumeclaims' ? { ...rest, spec } : (rest as Item);
}

/** Equal items only once, with their number. */
function compact(items: readonly Item[]): readonly Item[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(canonicalJson(item), (counts.get(canonicalJson(item)) ?? 0) + 1);
  return [...counts]
    .toSorted(([a], [b]) => byText(a, b))
    .map(([text, count]) => ({ ...(JSON.parse(text) as Item), ...(count === 1 ? {} : { copies: count }) }));
}

/**
 * Items of a list have no kind. The number of writes to a spec is random; but the status must describe the last one.
 */
function plain({ kind: _kind, ...item }: Item): Item {
  const { generation } = item.metadata;
  const status = item['status'];
  if (!isObject(status) || status['observedGeneration'] !== generation) return item;
  return { ...item, status: { ...status, observedGeneration: '<current>' } };
}

/** A Pod without the fields that admission and the test itself set. */
function podOf(item: Item): Item {
  const { metadata, spec, status } = item as Item & { spec: Record<string, unknown>; status: Record<string, unknown> };
  const { name, generateName, ...meta } = metadata;
  const isNumbered = typeof name === 'string' && /-\d+$/.test(name);
  return {
    metadata: { ...meta, name: isNumbered || generateName === undefined ? name : `${generateName}*` },
    spec: {
      hostname: spec['hostname'] ?? null,
      subdomain: spec['subdomain'] ?? null,
      affinity: spec['affinity'] ?? null,
      tolerations: spec['tolerations'] ?? null,
      containers: (spec['containers'] as readonly Readonly<Record<string, unknown>>[]).map(
        ({ name, image, env = null }) => ({
          name,
          image,
          env,
        }),
      ),
    },
    status: { phase: status['phase'] },
  };
}

/** Hashes of templates → the image of the template. */
function hashNames(state: State): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const note = (hash: unknown, template: unknown) => {
    const found = /"image":"([^"]*)"/.exec(canonicalJson(template));
    if (typeof hash === 'string' && found) names.set(hash, `<${found[1]}>`);
  };
  for (const item of state['replicasets'] ?? []) {
    const labels = item.metadata['labels'] as Readonly<Record<string, string>> | undefined;
    note(labels?.['pod-template-hash'], item['spec']);
  }
  for (const item of state['controllerrevisions'] ?? []) {
    const labels = item.metadata['labels'] as Readonly<Record<string, string>> | undefined;
    note(labels?.['controller.kubernetes.io/hash'] ?? labels?.['controller-revision-hash'], item['data']);
  }
  return names;
}
