// Strips an object of the hub to what is placed: everything except what the API server and the controllers of the hub
// have set.
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { groupVersionOf } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';

type Data = Readonly<Record<string, unknown>>;

const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'resourceVersion',
  'generation',
  'uid',
  'selfLink',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'ownerReferences',
]);
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
]);
const JOB_LABELS: ReadonlySet<string> = new Set(['controller-uid', 'batch.kubernetes.io/controller-uid']);

// fromEntries defines properties, so a key `__proto__` in the data stays data.
const without = (data: Data, keys: ReadonlySet<string>): Data =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !keys.has(key)));

/** Changes a field if it contains an object; otherwise the data stays as it is. */
const within = (data: Data, field: string, change: (value: Data) => Data): Data => {
  const value = data[field];
  return isObject(value) ? { ...data, [field]: change(value) } : data;
};

const ONLY_STATUS: ReadonlySet<string> = new Set(['status']);

/** Returns a new object; finalizers, labels and generateName stay on purpose. */
export function strip(object: KubeObject): KubeObject {
  const kept = { ...without(object, ONLY_STATUS), metadata: stripMetadata(object.metadata) } as unknown as Data;
  const { group } = groupVersionOf(object.apiVersion);
  const kind = `${group}/${object.kind}`;
  const stripped =
    kind === '/Service'
      ? within(kept, 'spec', stripService)
      : kind === 'batch/Job'
        ? within(kept, 'spec', stripJob)
        : kept;
  return stripped as unknown as KubeObject;
}

function stripMetadata(metadata: ObjectMeta): ObjectMeta {
  const { annotations, ...kept } = without(metadata as Data, OF_THE_SERVER);
  const own = isObject(annotations) ? without(annotations, ANNOTATIONS) : {};
  return Object.keys(own).length === 0 ? kept : ({ ...kept, annotations: own } as ObjectMeta);
}

const ADDRESSES: ReadonlySet<string> = new Set(['clusterIP', 'clusterIPs']);
const CHECK_PORT: ReadonlySet<string> = new Set(['healthCheckNodePort']);
const NODE_PORT: ReadonlySet<string> = new Set(['nodePort']);

/** Each cluster assigns addresses and node ports. `clusterIP: None` marks a headless Service, which the user sets. */
function stripService(spec: Data): Data {
  const { clusterIP, ports } = spec;
  const hasAddress = typeof clusterIP === 'string' && clusterIP !== 'None';
  const kept = without(hasAddress ? without(spec, ADDRESSES) : spec, CHECK_PORT);
  return Array.isArray(ports)
    ? { ...kept, ports: ports.map((port: unknown) => (isObject(port) ? without(port, NODE_PORT) : port)) }
    : kept;
}

const CREATED: ReadonlySet<string> = new Set(['creationTimestamp']);

/** The generated selector of a Job contains its uid on the hub. Maps that become empty stay. */
function stripJob(spec: Data): Data {
  if (spec['manualSelector'] === true) return spec;
  const withoutUid = (labels: Data) => without(labels, JOB_LABELS);
  const selected = within(spec, 'selector', (selector) => within(selector, 'matchLabels', withoutUid));
  return within(selected, 'template', (template) =>
    within(template, 'metadata', (metadata) => within(without(metadata, CREATED), 'labels', withoutUid)),
  );
}
