// The registry of one cluster: built-in resources, indexed once per process, and custom ones, replaced when CRDs
// change.
import { by } from '../base/compare.ts';
import type { Found, Registry, ServedResource } from './registry.ts';

export interface LiveRegistry extends Registry {
  /** Replaces all custom resources. */
  setCustom(resources: readonly ServedResource[]): void;
  /** Called after the custom resources have changed. Returns a function that unsubscribes. */
  subscribe(wake: () => void): () => void;
}

interface Index {
  readonly byUrl: ReadonlyMap<string, Found>;
  readonly byKind: ReadonlyMap<string, Found>;
}

const builtinIndexes = new WeakMap<readonly ServedResource[], Index>();
const inOrder = by<ServedResource>((resource) => `${resource.group}/${resource.plural}`);

export function createRegistry(builtin: readonly ServedResource[]): LiveRegistry {
  const fixed = builtinIndexes.get(builtin) ?? indexOf(builtin);
  builtinIndexes.set(builtin, fixed);
  let custom: Index = { byUrl: new Map(), byKind: new Map() };
  let customResources: readonly ServedResource[] = [];
  let all: readonly ServedResource[] | undefined;
  let epoch = 1;
  const listeners = new Set<() => void>();
  return {
    get epoch() {
      return epoch;
    },
    find(group, version, plural) {
      const url = `${group}/${version}/${plural}`;
      return fixed.byUrl.get(url) ?? custom.byUrl.get(url);
    },
    findKind(group, kind, version = '') {
      const name = `${group}/${version}/${kind}`;
      return fixed.byKind.get(name) ?? custom.byKind.get(name);
    },
    all() {
      all ??= [...builtin, ...customResources].sort(inOrder);
      return all;
    },
    setCustom(resources) {
      if (resources.length === customResources.length && resources.every((each, i) => each === customResources[i]))
        return;
      custom = indexOf(resources);
      customResources = resources;
      all = undefined;
      epoch += 1;
      for (const wake of [...listeners]) wake();
    },
    subscribe(wake) {
      listeners.add(wake);
      return () => listeners.delete(wake);
    },
  };
}

function indexOf(resources: readonly ServedResource[]): Index {
  const byUrl = new Map<string, Found>();
  const byKind = new Map<string, Found>();
  for (const resource of resources) {
    for (const version of resource.versions) {
      const found: Found = { resource, version };
      byUrl.set(`${resource.group}/${version.version}/${resource.plural}`, found);
      byKind.set(`${resource.group}/${version.version}/${resource.kind}`, found);
      const preferred = `${resource.group}//${resource.kind}`;
      if (!byKind.has(preferred)) byKind.set(preferred, found);
    }
  }
  return { byUrl, byKind };
}
