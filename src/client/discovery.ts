// Resolves `crp`, `pods`, `deployments.apps` or a manifest's apiVersion and kind to a resource.
import type { Resource } from '../api/kind.ts';
import { apiVersionOf, groupVersionOf } from '../api/object.ts';
import { UserError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { HttpTransport } from './http.ts';

export interface KnownResource extends Resource {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** The lower rank wins if a word matches several. */
  readonly rank: number;
}

export interface Catalogue {
  readonly resources: readonly KnownResource[];
  /** Group versions, as in `apiVersion`, whose API server does not respond and whose kinds are unknown. */
  readonly unknown: readonly string[];
  /** By user input: plural, singular, kind or short name, optionally followed by `.group` or `.version.group`. */
  byWord(word: string): KnownResource;
  byKind(apiVersion: string, kind: string): KnownResource;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Discovered {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    /**
     * Stale = its API server does not respond: its resources are from an older response, or missing if there was none.
     */
    readonly freshness?: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly responseKind?: { readonly kind: string };
      readonly scope: string;
      readonly singularResource?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
      readonly verbs?: readonly string[];
    }[];
  }[];
}

/**
 * `before` = the last result. For a group version whose API server does not respond, the server returns its last known
 * state, which is empty after its own restart. That can prove presence, never absence, so the known resources stay.
 */
export async function discover(transport: HttpTransport, before?: Catalogue): Promise<Catalogue> {
  const documents = await Promise.all([transport.read('/api', AGGREGATED), transport.read('/apis', AGGREGATED)]);
  const groups = documents.flatMap(
    (document) => ((document as { items?: Json }).items ?? []) as unknown as readonly Discovered[],
  );
  const unknown: string[] = [];
  const resources = groups.flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version, freshness, resources = [] }, order) => {
      const group = metadata?.name ?? '';
      const said = resources.map(
        (each): Unranked => ({
          group,
          version,
          kind: each.responseKind?.kind ?? '',
          plural: each.resource,
          namespaced: each.scope === 'Namespaced',
          singular: each.singularResource ?? '',
          shortNames: each.shortNames ?? [],
          categories: each.categories ?? [],
          verbs: each.verbs ?? [],
        }),
      );
      const known = freshness === 'Stale' ? [...said, ...unsaid(before, group, version, said)] : said;
      if (freshness === 'Stale' && known.length === 0) unknown.push(apiVersionOf(group, version));
      return known.map((resource) => ({ resource, order }));
    }),
  );
  return catalogue(
    resources.map(({ resource, order }, index) => ({ ...resource, rank: order * 10_000 + index })),
    unknown,
  );
}

type Unranked = Omit<KnownResource, 'rank'>;

const unsaid = (
  before: Catalogue | undefined,
  group: string,
  version: string,
  said: readonly Unranked[],
): readonly Unranked[] =>
  (before?.resources ?? []).filter(
    (each) => each.group === group && each.version === version && !said.some(({ plural }) => plural === each.plural),
  );

export function catalogue(resources: readonly KnownResource[], unknown: readonly string[] = []): Catalogue {
  const best = (fits: (resource: KnownResource) => boolean) =>
    resources.filter(fits).sort((a, b) => a.rank - b.rank)[0];
  return {
    resources,
    unknown,
    byWord(word) {
      const [name = '', ...rest] = word.toLowerCase().split('.');
      const where = rest.join('.');
      const fitsGroup = (each: KnownResource) =>
        where === '' || each.group === where || `${each.version}.${each.group}` === where;
      const found =
        best((each) => fitsGroup(each) && [each.plural, each.singular, each.kind.toLowerCase()].includes(name)) ??
        best((each) => fitsGroup(each) && each.shortNames.includes(name));
      if (!found) throw new UserError('UnknownKind', `the server has no resource "${word}"`);
      return found;
    },
    byKind(apiVersion, kind) {
      const { group, version } = groupVersionOf(apiVersion);
      const found = best((each) => each.group === group && each.version === version && each.kind === kind);
      if (!found) throw new UserError('UnknownKind', `the server knows no kind "${kind}" in version "${apiVersion}"`);
      return found;
    },
  };
}
