// Discovery: the aggregated document, which kubectl reads first, and the legacy lists for `kubectl auth can-i` and
// older clients.
import { apiVersionOf } from '../../api/object.ts';
import { sha256 } from '../../base/hash.ts';
import { lazy } from '../../base/lazy.ts';
import type { Registry, ServedResource, ServedVersion } from '../registry.ts';
import type { Choose, Form } from './negotiate.ts';
import { type Exchange, sendBytes, sendJson } from './respond.ts';
import { type GroupVersion, perEpoch, type ServedGroup } from './served-groups.ts';

interface Document {
  readonly bytes: Buffer;
  readonly etag: string;
}

interface Discovery {
  /** By `/api` or `/apis` and the version of the format. */
  aggregated(path: string, version: string): Document;
  /** undefined = there is no such list. */
  legacy(path: string): unknown;
}

export interface DiscoveryServer {
  /** False: the path does not belong to discovery. */
  serve(exchange: Exchange, registry: Registry, path: string, choose: Choose): boolean;
}

const AGGREGATED_FORMS: ReadonlySet<Form> = new Set(['discovery', 'json', 'yaml']);
const LEGACY_FORMS: ReadonlySet<Form> = new Set(['json', 'yaml']);

export function createDiscovery(): DiscoveryServer {
  const discoveryOf = perEpoch(makeDiscovery);
  return {
    serve(exchange, registry, path, choose) {
      const isRoot = path === '/api' || path === '/apis';
      if (!isRoot && !path.startsWith('/api/') && !path.startsWith('/apis/')) return false;
      const discovery = discoveryOf(registry);
      const document = discovery.legacy(path);
      if (document === undefined) return false;
      const { accept } = exchange.request.headers;
      const wanted = choose(accept, isRoot ? AGGREGATED_FORMS : LEGACY_FORMS);
      if (wanted.form !== 'discovery') {
        sendJson(exchange, 200, document);
        return true;
      }
      const { bytes, etag } = discovery.aggregated(path, wanted.version);
      const isKnown = exchange.request.headers['if-none-match'] === etag;
      sendBytes(exchange, isKnown ? 304 : 200, wanted.contentType, isKnown ? Buffer.alloc(0) : bytes, {
        cacheControl: 'public',
        more: ['ETag', etag, 'Vary', 'Accept'],
      });
      return true;
    },
  };
}

function makeDiscovery(groups: readonly ServedGroup[]): Discovery {
  const documents = new Map<string, () => Document>();
  for (const version of ['v2', 'v2beta1']) {
    const core = groups.filter((group) => group.name === '');
    const others = groups.filter((group) => group.name !== '');
    documents.set(
      `/api ${version}`,
      lazy(() => aggregatedDocument(core, version)),
    );
    documents.set(
      `/apis ${version}`,
      lazy(() => aggregatedDocument(others, version)),
    );
  }
  const lists = legacyLists(groups);
  return {
    aggregated: (path, version) => (documents.get(`${path} ${version}`) as () => Document)(),
    legacy: (path) => lists.get(path)?.(),
  };
}

// ---- aggregated

function aggregatedDocument(groups: readonly ServedGroup[], version: string): Document {
  const bytes = Buffer.from(
    `${JSON.stringify({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: groups.map((group) => ({
        metadata: group.name === '' ? {} : { name: group.name },
        versions: group.versions.map((each) => ({
          version: each.version,
          resources: each.resources.map(({ resource, served }) => aggregatedResource(resource, served)),
          freshness: 'Current',
        })),
      })),
    })}\n`,
  );
  return { bytes, etag: `"${sha256(bytes).toUpperCase()}"` };
}

const aggregatedResource = (resource: ServedResource, { version }: ServedVersion) => {
  const subresources = subresourcesOf(resource, version);
  return {
    resource: resource.plural,
    responseKind: { group: resource.group, version, kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map(({ name, verbs, ...responseKind }) => ({
            subresource: name,
            responseKind,
            verbs,
          })),
        }),
  };
};

const READ_AND_WRITE = ['get', 'patch', 'update'];

/** All subresources, sorted by name. */
export function subresourcesOf(resource: ServedResource, version: string) {
  const own = { group: resource.group, version, kind: resource.kind };
  return [
    ...resource.subresources.filter((each) => each.name !== 'status' && each.name !== 'scale'),
    ...(resource.hasStatus ? [{ name: 'status', ...own, verbs: READ_AND_WRITE }] : []),
    ...(resource.scale
      ? [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: READ_AND_WRITE }]
      : []),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}

// ---- legacy

function legacyLists(groups: readonly ServedGroup[]): ReadonlyMap<string, () => unknown> {
  const lists = new Map<string, () => unknown>();
  const others = groups.filter((group) => group.name !== '');
  const core = groups.find((group) => group.name === '');
  lists.set('/api', () => ({
    kind: 'APIVersions',
    versions: core?.versions.map((each) => each.version) ?? [],
    serverAddressByClientCIDRs: [],
  }));
  lists.set('/apis', () => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: others.map(legacyGroup) }));
  for (const group of others) {
    lists.set(`/apis/${group.name}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(group) }));
  }
  for (const each of groups.flatMap((group) => group.versions)) lists.set(rootOf(each), () => legacyResources(each));
  return lists;
}

/** `/api/v1` or `/apis/<group>/<version>`. */
export const rootOf = ({ group, version }: Pick<GroupVersion, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

function legacyGroup({ name, versions }: ServedGroup) {
  const all = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

const legacyResources = ({ group, version, resources }: GroupVersion) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: apiVersionOf(group, version),
  resources: resources.flatMap(({ resource }) => [
    {
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: resource.verbs,
      ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
      ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    },
    ...subresourcesOf(resource, version).map((each) => ({
      name: `${resource.plural}/${each.name}`,
      singularName: '',
      namespaced: resource.namespaced,
      ...(each.group === group && each.version === version ? {} : { group: each.group, version: each.version }),
      kind: each.kind,
      verbs: each.verbs,
    })),
  ]),
});
