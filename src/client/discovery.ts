// Which resource a person means by `crp`, `pods`, `deployments.apps` or a manifest's apiVersion and kind.
import type { Resource } from '../api/kind.ts';
import { groupVersionOf } from '../api/object.ts';
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
  /** By what a person types: plural, singular, kind, short name, each perhaps followed by `.group` or `.version.group`. */
  byWord(word: string): KnownResource;
  byKind(apiVersion: string, kind: string): KnownResource;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Discovered {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
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

export async function discover(transport: HttpTransport): Promise<Catalogue> {
  const documents = await Promise.all([transport.read('/api', AGGREGATED), transport.read('/apis', AGGREGATED)]);
  const groups = documents.flatMap(
    (document) => ((document as { items?: Json }).items ?? []) as unknown as readonly Discovered[],
  );
  const resources = groups.flatMap((group) =>
    (group.versions ?? []).flatMap((version, order) =>
      (version.resources ?? []).map((each): Omit<KnownResource, 'rank'> & { order: number } => ({
        group: group.metadata?.name ?? '',
        version: version.version,
        kind: each.responseKind?.kind ?? '',
        plural: each.resource,
        namespaced: each.scope === 'Namespaced',
        singular: each.singularResource ?? '',
        shortNames: each.shortNames ?? [],
        categories: each.categories ?? [],
        verbs: each.verbs ?? [],
        order,
      })),
    ),
  );
  return catalogue(resources.map(({ order, ...resource }, index) => ({ ...resource, rank: order * 10_000 + index })));
}

export function catalogue(resources: readonly KnownResource[]): Catalogue {
  const best = (fits: (resource: KnownResource) => boolean) =>
    resources.filter(fits).sort((a, b) => a.rank - b.rank)[0];
  return {
    resources,
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
