// Which resource a person means by `crp`, `pods`, `deployments.apps` or a manifest's apiVersion and kind.
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
  /** Lower comes first when a word fits several. */
  readonly rank: number;
}

export interface Catalogue {
  readonly resources: readonly KnownResource[];
  /** Group versions, as in `apiVersion`, whose API server does not answer and of which nothing is known. */
  readonly unknown: readonly string[];
  /** By what a person types: plural, singular, kind, short name, each perhaps followed by `.group` or `.version.group`. */
  byWord(word: string): KnownResource;
  byKind(apiVersion: string, kind: string): KnownResource;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Discovered {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    /** Stale = its API server did not answer: what is said of it is old, or nothing if the server has never heard it. */
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
 * `before` = what was discovered last. Of a group version whose API server does not answer the server says what it remembers, which is nothing
 * after its own restart, or from a peer that has just started. That proves presence, never absence: what was known of it stays.
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
