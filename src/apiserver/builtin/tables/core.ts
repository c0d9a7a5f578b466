// Tables of Namespaces, Nodes, Events and data objects.
import type { Labels } from '../../../api/object.ts';
import { canonicalQuantity } from '../../../base/quantity.ts';
import type { Condition } from '../drafts.ts';
import { AGE, ageOf, conditionOf, NAME, nameOf, since, sizeOf, table, text, wide } from './table.ts';

export const namespace = table<{ readonly status?: { readonly phase?: string } }>(
  [NAME, text('Status', 'Active, or Terminating while it is emptied.'), AGE],
  (object, now) => [nameOf(object), object.status?.phase ?? '', ageOf(object, now)],
);

export const configMap = table<{ readonly data?: object; readonly binaryData?: object }>(
  [NAME, text('Data', 'How many keys it holds.'), AGE],
  (object, now) => [nameOf(object), sizeOf(object.data) + sizeOf(object.binaryData), ageOf(object, now)],
);

export const secret = table<{ readonly type?: string; readonly data?: object }>(
  [NAME, text('Type', 'What the Secret is for.'), text('Data', 'How many keys it holds.'), AGE],
  (object, now) => [nameOf(object), object.type ?? '', sizeOf(object.data), ageOf(object, now)],
);

export const serviceAccount = table<{ readonly secrets?: readonly unknown[] }>(
  [NAME, text('Secrets', 'How many Secrets it lists.'), AGE],
  (object, now) => [nameOf(object), object.secrets?.length ?? 0, ageOf(object, now)],
);

interface Node {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
    readonly nodeInfo?: {
      readonly kubeletVersion?: string;
      readonly osImage?: string;
      readonly kernelVersion?: string;
      readonly containerRuntimeVersion?: string;
    };
  };
}

export const node = table<Node>(
  [
    NAME,
    text('Status', 'Whether the node takes work.'),
    text('Roles', 'Roles by its labels.'),
    AGE,
    text('Version', 'Version of its kubelet.'),
    wide(text('Internal-IP', 'Its address inside of the network.')),
    wide(text('External-IP', 'Its address outside of the network.')),
    wide(text('OS-Image', 'Its operating system.')),
    wide(text('Kernel-Version', 'Its kernel.')),
    wide(text('Container-Runtime', 'Its container runtime.')),
  ],
  (object, now) => {
    const info = object.status?.nodeInfo;
    return [
      nameOf(object),
      nodeStatus(object),
      nodeRoles(object.metadata.labels),
      ageOf(object, now),
      info?.kubeletVersion ?? '',
      nodeAddress(object, 'InternalIP'),
      nodeAddress(object, 'ExternalIP'),
      info?.osImage || '<unknown>',
      info?.kernelVersion || '<unknown>',
      info?.containerRuntimeVersion || '<unknown>',
    ];
  },
);

function nodeStatus({ spec, status }: Node): string {
  const ready = conditionOf(status?.conditions, 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${word},SchedulingDisabled` : word;
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function nodeRoles(labels: Labels | undefined): string {
  const roles = new Set<string>();
  for (const key in labels) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === 'kubernetes.io/role' && labels[key]) roles.add(labels[key]);
  }
  return [...roles].sort().join(',') || '<none>';
}

const nodeAddress = ({ status }: Node, type: string): string =>
  status?.addresses?.find((each) => each.type === type)?.address ?? '<none>';

interface Reference {
  readonly kind?: string;
  readonly name?: string;
  readonly fieldPath?: string;
}

interface Source {
  readonly component?: string;
  readonly host?: string;
}

/** Both forms: the core one, and that of events.k8s.io with its own field names. */
interface Event {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly involvedObject?: Reference;
  readonly regarding?: Reference;
  readonly source?: Source;
  readonly deprecatedSource?: Source;
  readonly reportingComponent?: string;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly firstTimestamp?: string | null;
  readonly deprecatedFirstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly count?: number;
  readonly deprecatedCount?: number;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
}

export const event = table<Event>(
  [
    text('Last Seen', 'Time since it happened last.'),
    text('Type', 'Normal or Warning.'),
    text('Reason', 'What happened, in one word.'),
    text('Object', 'What it happened to.'),
    wide(text('Subobject', 'The part that it happened to.')),
    wide(text('Source', 'Component that reported it.')),
    text('Message', 'What happened.'),
    wide(text('First Seen', 'Time since it happened first.')),
    wide(text('Count', 'How often it happened.')),
    wide({ ...NAME }),
  ],
  (object, now) => {
    const about = object.involvedObject ?? object.regarding;
    const source = object.source ?? object.deprecatedSource;
    const first = object.firstTimestamp || object.deprecatedFirstTimestamp || object.eventTime;
    const last = object.lastTimestamp || object.deprecatedLastTimestamp || first;
    const component = source?.component || object.reportingComponent || object.reportingController || '';
    const instance = source?.host || object.reportingInstance || '';
    const kind = about?.kind?.toLowerCase() ?? '';
    return [
      since(object.series === undefined ? last : object.series.lastObservedTime, now),
      object.type ?? '',
      object.reason ?? '',
      about?.name ? `${kind}/${about.name}` : kind,
      about?.fieldPath ?? '',
      instance === '' ? component : `${component}, ${instance}`,
      (object.message ?? object.note ?? '').trim(),
      since(first, now),
      object.series === undefined ? object.count || object.deprecatedCount || 1 : (object.series.count ?? 0),
      nameOf(object),
    ];
  },
);

export const lease = table<{ readonly spec?: { readonly holderIdentity?: string } }>(
  [NAME, text('Holder', 'Who holds the lease.'), AGE],
  (object, now) => [nameOf(object), object.spec?.holderIdentity ?? '', ageOf(object, now)],
);

type Quantities = Readonly<Record<string, string>>;

export const resourceQuota = table<{ readonly status?: { readonly hard?: Quantities; readonly used?: Quantities } }>(
  [NAME, text('Request', 'Used and allowed requests.'), text('Limit', 'Used and allowed limits.'), AGE],
  (object, now) => {
    const { hard = {}, used = {} } = object.status ?? {};
    const shown = (isLimit: boolean) =>
      Object.keys(hard)
        .filter((name) => name.startsWith('limits.') === isLimit)
        .sort()
        .map((name) => `${name}: ${amount(used[name])}/${amount(hard[name])}`)
        .join(', ');
    return [nameOf(object), shown(false), shown(true), ageOf(object, now)];
  },
);

function amount(quantity: string | undefined): string {
  try {
    return canonicalQuantity(quantity ?? '0');
  } catch {
    return `${quantity}`;
  }
}
