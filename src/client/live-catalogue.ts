// The kinds that a remote server serves, from its discovery documents. They are read when a caller requests a refresh:
// a watch on CRDs and APIServices (runtime/kinds.ts) does so after a change. An API server that does not respond
// removes nothing.
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Resource } from '../api/kind.ts';
import { groupVersionOf } from '../api/object.ts';
import { by } from '../base/compare.ts';
import { type Catalogue, discover, type KnownResource } from './discovery.ts';
import type { HttpTransport } from './http.ts';

export function createLiveCatalogue(transport: HttpTransport): LiveCatalogue {
  const listeners = new Set<() => void>();
  let last: Catalogue | undefined;
  let byKind: ReadonlyMap<string, Resource> = new Map();
  let preferred: readonly Resource[] = [];
  let unknown: readonly string[] = [];
  let text = '';
  let asking: Promise<void> | undefined;
  /** A caller requested a refresh while a response was in flight, which may be older than the caller's information. */
  let next: Promise<void> | undefined;

  async function read(): Promise<void> {
    last = await discover(transport, last);
    const { resources } = last;
    const found = resources.map(({ group, version, kind, plural, namespaced }) => ({
      group,
      version,
      kind,
      plural,
      namespaced,
    }));
    const now = JSON.stringify([found, last.unknown]);
    if (now === text) return;
    text = now;
    byKind = new Map(found.map((resource) => [nameOf(resource), resource]));
    preferred = preferredOf(resources);
    unknown = last.unknown;
    for (const wake of [...listeners]) wake();
  }

  const ask = (): Promise<void> => {
    asking = read().finally(() => {
      asking = undefined;
    });
    return asking;
  };

  return {
    byKind: (apiVersion, kind) => byKind.get(nameOf({ ...groupVersionOf(apiVersion), kind })),
    get preferred() {
      return preferred;
    },
    get unknown() {
      return unknown;
    },
    subscribe(wake) {
      listeners.add(wake);
      return () => listeners.delete(wake);
    },
    refresh() {
      if (asking === undefined) return ask();
      next ??= asking
        .catch(() => {})
        .then(() => {
          next = undefined;
          return ask();
        });
      return next;
    },
  };
}

const nameOf = ({ group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>): string =>
  `${group}/${version}/${kind}`;

/** For each group and plural the version that the server lists first. */
function preferredOf(resources: readonly KnownResource[]): readonly Resource[] {
  const best = new Map<string, KnownResource>();
  for (const each of resources) {
    if (!each.verbs.includes('list') || !each.verbs.includes('watch')) continue;
    const name = `${each.group}/${each.plural}`;
    const known = best.get(name);
    if (known === undefined || each.rank < known.rank) best.set(name, each);
  }
  return [...best]
    .sort(by(([name]) => name))
    .map(([, { group, version, kind, plural, namespaced }]) => ({ group, version, kind, plural, namespaced }));
}
