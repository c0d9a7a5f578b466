// Which objects are never placed, whatever selects them: kinds that run the fleet or that each cluster creates for
// itself, system namespaces, and objects that a controller owns.
import type { Resource } from '../../api/kind.ts';
import { isReservedNamespace } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object.ts';

/** An object without its content. */
export interface Candidate {
  readonly metadata: ObjectMeta;
}

export interface PropagationSettings {
  /** `group;group/version;group/version/Kind1,Kind2;v1/Kind`: only these are placed. Excludes skippedApis. */
  readonly allowedApis?: string;
  /** In the same format: these are not placed either. */
  readonly skippedApis?: string;
  /** Separated by commas or semicolons. */
  readonly skippedNamespaces?: string;
  /** Workloads run on the hub, so its PersistentVolumeClaims belong to the hub. */
  readonly enableWorkload?: boolean;
}

/** The part of a kind that decides whether it may be placed. */
type Kind = Pick<Resource, 'group' | 'version' | 'kind'>;

export interface Propagation {
  /** False = no selector may place objects of this kind. */
  allowsKind(kind: Kind): boolean;
  allowsNamespace(namespace: string): boolean;
  /** Decides without the content of the object. `hasService` is called only for Endpoints. */
  allowsObject(resource: Resource, object: Candidate, hasService: () => boolean): boolean;
}

const DENIED_GROUPS: ReadonlySet<string> = new Set([
  'cluster.kubernetes-fleet.io',
  'flotilla.dev',
  'events.k8s.io',
  'coordination.k8s.io',
  'metrics.k8s.io',
  // Differs from KubeFleet: its list lacks its next generation of types, so whole policies would be placed on members.
  'placement.kubefleet.dev',
]);

const FLEET = 'placement.kubernetes-fleet.io';
/** The only placeable kinds of the placement API group; AppliedWork does not exist on a hub. */
const ALLOWED_FLEET_KINDS: ReadonlySet<string> = new Set([
  'ClusterResourceEnvelope',
  'ResourceEnvelope',
  'AppliedWork',
]);

/** `group/Kind`, in any version. Both Event kinds are denied; KubeFleet denies only the core one, by accident. */
const DENIED_KINDS: ReadonlySet<string> = new Set([
  '/Pod',
  '/Node',
  '/Event',
  'networking.fleet.azure.com/ServiceImport',
  'networking.fleet.azure.com/TrafficManagerProfile',
  'networking.fleet.azure.com/TrafficManagerBackend',
]);

const isDeniedByDefault = ({ group, kind }: Kind): boolean =>
  DENIED_GROUPS.has(group) ||
  DENIED_KINDS.has(`${group}/${kind}`) ||
  (group === FLEET && !ALLOWED_FLEET_KINDS.has(kind));

export function createPropagation(settings: PropagationSettings = {}): Propagation {
  const { allowedApis = '', skippedApis = '', skippedNamespaces = '', enableWorkload = false } = settings;
  const allowed = parseApis(allowedApis);
  const skipped = parseApis(skippedApis);
  if (allowed.length > 0 && skipped.length > 0) {
    throw new Error('allowed-propagating-apis and skipped-propagating-apis exclude each other');
  }
  const namespaces = new Set(tokensOf(skippedNamespaces, /[;,]/));
  const listed = (apis: readonly Api[], kind: Kind) => apis.some((api) => matches(api, kind));
  return {
    allowsKind: (kind) =>
      allowed.length > 0 ? listed(allowed, kind) : !isDeniedByDefault(kind) && !listed(skipped, kind),
    allowsNamespace: (namespace) =>
      namespace !== 'default' && !isReservedNamespace(namespace) && !namespaces.has(namespace),
    allowsObject(resource, object, hasService) {
      if (object.metadata.deletionTimestamp !== undefined) return false;
      const rule = OBJECT_RULES.get(`${resource.group}/${resource.kind}`);
      return rule === undefined || !rule(object.metadata, { enableWorkload, hasService });
    },
  };
}

interface RuleContext {
  readonly enableWorkload: boolean;
  hasService(): boolean;
}

const hasOwner = ({ ownerReferences = [] }: ObjectMeta) => ownerReferences.length > 0;

/** True = the object stays on the hub. */
const OBJECT_RULES: ReadonlyMap<string, (metadata: ObjectMeta, context: RuleContext) => boolean> = new Map([
  ['apps/ReplicaSet', hasOwner],
  ['apps/ControllerRevision', hasOwner],
  ['/ConfigMap', ({ name }: ObjectMeta) => name === 'kube-root-ca.crt'],
  ['/ServiceAccount', ({ name }: ObjectMeta) => name === 'default'],
  ['/PersistentVolumeClaim', (_: ObjectMeta, { enableWorkload }: RuleContext) => enableWorkload],
  ['/Endpoints', (_: ObjectMeta, { hasService }: RuleContext) => hasService()],
  [
    'discovery.k8s.io/EndpointSlice',
    ({ labels = {} }: ObjectMeta) => Object.hasOwn(labels, 'endpointslice.kubernetes.io/managed-by'),
  ],
]);

/** The only rule that needs the content of the object. */
export const isTokenSecret = (object: { readonly kind: string; readonly apiVersion: string }): boolean =>
  object.apiVersion === 'v1' &&
  object.kind === 'Secret' &&
  (object as { readonly type?: unknown }).type === 'kubernetes.io/service-account-token';

// ---- lists of APIs in flags

interface Api {
  readonly group: string;
  readonly version?: string;
  readonly kinds?: readonly string[];
}

const matches = ({ group, version, kinds }: Api, of: Kind): boolean =>
  group === of.group &&
  (version === undefined || version === of.version) &&
  (kinds === undefined || kinds.includes(of.kind));

const tokensOf = (text: string, separator: RegExp): readonly string[] =>
  text
    .split(separator)
    .map((token) => token.trim())
    .filter((token) => token !== '');

const VERSION = /^v\d+((alpha|beta)\d+)?$/;

/**
 * Differs from KubeFleet: spaces around a token are ignored, and `v1` alone means the core group, not a group of that
 * name.
 */
export function parseApis(text: string): readonly Api[] {
  return tokensOf(text, /;/).map((token): Api => {
    const parts = token.split('/').map((part) => part.trim());
    const [first = '', second, third] = parts;
    const kindsIn = (list: string) => tokensOf(list, /,/);
    if (parts.length === 1) return VERSION.test(first) ? { group: '', version: first } : { group: first };
    if (parts.length === 2 && second !== undefined) {
      return VERSION.test(first)
        ? { group: '', version: first, kinds: kindsIn(second) }
        : { group: first, version: second };
    }
    if (parts.length === 3 && second !== undefined && third !== undefined) {
      return { group: first, version: second, kinds: kindsIn(third) };
    }
    throw new Error(
      `${JSON.stringify(token)} names no API: group, group/version or group/version/Kind,Kind is expected`,
    );
  });
}
