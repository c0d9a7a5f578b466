// The groups and versions of a registry, sorted as in discovery and OpenAPI: groups in the order in which kubectl
// resolves names, in each the newest stable version first.
import { by, byText } from '../../base/compare.ts';
import type { Registry, ServedResource, ServedVersion } from '../registry.ts';

export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly GroupVersion[];
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  /** Sorted by plural. */
  readonly resources: readonly { readonly resource: ServedResource; readonly served: ServedVersion }[];
}

// The built-in groups in a real server's order; all others follow by name.
const GROUP_ORDER: ReadonlyMap<string, number> = new Map(
  [
    '',
    'apiregistration.k8s.io',
    'apps',
    'events.k8s.io',
    'authentication.k8s.io',
    'authorization.k8s.io',
    'autoscaling',
    'batch',
    'certificates.k8s.io',
    'networking.k8s.io',
    'policy',
    'rbac.authorization.k8s.io',
    'storage.k8s.io',
    'admissionregistration.k8s.io',
    'apiextensions.k8s.io',
    'scheduling.k8s.io',
    'coordination.k8s.io',
    'node.k8s.io',
    'discovery.k8s.io',
    'resource.k8s.io',
    'flowcontrol.apiserver.k8s.io',
  ].map((name, index) => [name, index]),
);

const byGroup = (a: string, b: string): number =>
  (GROUP_ORDER.get(a) ?? GROUP_ORDER.size) - (GROUP_ORDER.get(b) ?? GROUP_ORDER.size) || byText(a, b);

const STAGES = ['alpha', 'beta', ''];

/** v2 before v1 before v1beta2 before v1beta1 before v1alpha1; other versions come last, by name. */
export function byVersionPriority(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (!left || !right) return left ? -1 : right ? 1 : byText(a, b);
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function rank(version: string) {
  const found = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  if (!found) return undefined;
  return { major: Number(found[1]), stage: STAGES.indexOf(found[2] ?? ''), minor: Number(found[3] ?? 0) };
}

export function servedGroups(registry: Registry): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, { resource: ServedResource; served: ServedVersion }[]>>();
  for (const resource of registry.all()) {
    for (const served of resource.versions) {
      if (!served.served) continue;
      const versions = groups.get(resource.group) ?? new Map();
      groups.set(resource.group, versions);
      const resources = versions.get(served.version) ?? [];
      versions.set(served.version, resources);
      resources.push({ resource, served });
    }
  }
  return [...groups]
    .sort(([a], [b]) => byGroup(a, b))
    .map(([name, versions]) => ({
      name,
      versions: [...versions]
        .sort(([a], [b]) => byVersionPriority(a, b))
        .map(([version, resources]) => ({
          group: name,
          version,
          resources: resources.sort(by(({ resource }) => resource.plural)),
        })),
    }));
}

/** A value derived from what a registry serves, computed again when that changes. */
export function perEpoch<T>(make: (groups: readonly ServedGroup[]) => T): (registry: Registry) => T {
  const made = new WeakMap<Registry, { readonly epoch: number; readonly value: T }>();
  return (registry) => {
    const known = made.get(registry);
    if (known?.epoch === registry.epoch) return known.value;
    const value = make(servedGroups(registry));
    made.set(registry, { epoch: registry.epoch, value });
    return value;
  };
}
