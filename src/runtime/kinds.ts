// Keeps a catalogue of kinds up to date over the wire: discovery is read again if a CRD or an APIService changes. While
// an aggregated API server does not answer, discovery is polled: nothing in the API reports that it has recovered.
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Condition } from '../api/conditions.ts';
import type { Resource } from '../api/kind.ts';
import type { KubeObject } from '../api/object.ts';
import type { Projected, ServerName, Source, Worker } from './controller.ts';

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const apiServices: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
};

interface Serving extends Projected {
  /** Whether its kinds are served. */
  readonly isServed: boolean;
}

function serving(object: KubeObject): Serving {
  const { name, uid, resourceVersion, generation } = object.metadata;
  const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const isServed = conditions.some(
    ({ type, status }) => (type === 'Established' || type === 'Available') && status === 'True',
  );
  return { metadata: { name, uid, resourceVersion, generation } as Serving['metadata'], isServed };
}

const KEY = 'kinds';
const SILENT_MS = 30_000;

export function keepKinds(on: ServerName, catalogue: LiveCatalogue): Worker {
  const source = (resource: Resource): Source<Serving> => ({ on, resource, project: serving });
  return {
    name: `kinds/${on}`,
    eventSource: 'flotilla',
    watches: [definitions, apiServices].map((resource) => ({ source: source(resource), toKeys: () => [KEY] })),
    async work({ now }) {
      await catalogue.refresh();
      const isSilent = (catalogue.unknown ?? []).length > 0;
      return { holds: [], because: 'discovery was read again', ...(isSilent ? { wakeAt: now + SILENT_MS } : {}) };
    },
  };
}
