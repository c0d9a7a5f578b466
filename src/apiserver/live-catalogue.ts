// The kinds that an in-process cluster serves: a view of its registry, always up to date.
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Resource } from '../api/kind.ts';
import { groupVersionOf } from '../api/object.ts';
import type { LiveRegistry } from './live-registry.ts';
import type { ServedResource } from './registry.ts';

export function catalogueOf(registry: LiveRegistry): LiveCatalogue {
  let epoch = 0;
  let preferred: readonly Resource[] = [];
  return {
    byKind(apiVersion, kind) {
      const { group, version } = groupVersionOf(apiVersion);
      const found = registry.findKind(group, kind, version);
      return found?.version.served ? resourceOf(found.resource, found.version.version) : undefined;
    },
    get preferred() {
      if (epoch !== registry.epoch) {
        epoch = registry.epoch;
        preferred = registry.all().flatMap((resource) => {
          const version = resource.versions.find(({ served }) => served)?.version;
          const isWatched = resource.verbs.includes('list') && resource.verbs.includes('watch');
          return version === undefined || !isWatched ? [] : [resourceOf(resource, version)];
        });
      }
      return preferred;
    },
    subscribe: registry.subscribe,
    refresh: () => Promise.resolve(),
  };
}

const resourceOf = ({ group, kind, plural, namespaced }: ServedResource, version: string): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced,
});
