// What a placement selects now, by the rules of the hub, as far as the caller may read it.
import type { Resource } from '../../api/kind.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import { ApiError, InvariantError } from '../../base/errors.ts';
import { mapLimit } from '../../base/map-limit.ts';
import { createClient } from '../../client/client.ts';
import { createLiveCatalogue } from '../../client/live-catalogue.ts';
import type { HubPlacement } from '../../hub/placement-sources.ts';
import { contentOf, marksOf } from '../../hub/revisions/content.ts';
import { createPropagation } from '../../hub/revisions/propagation.ts';
import { type Sight, select } from '../../hub/revisions/select.ts';
import type { Observed } from '../../hub/staged/observed.ts';
import type { Connected } from '../server/connect.ts';

type Selected = NonNullable<Observed['selected']>;
type Part = Parameters<Sight['list']>[1];

const AT_ONCE = 4;
const MAX_ROUNDS = 10;

/** `notes`: what could not be read and is not counted. */
export async function selectedNow(
  { transport }: Pick<Connected, 'transport'>,
  placement: HubPlacement,
): Promise<{ readonly selected: Selected; readonly notes: readonly string[] }> {
  const { source, resourceSelectors = [] } = placement.spec;
  if (source !== undefined) {
    const message = `its objects come from bundle "${source.bundle}" of GitRepo "${source.gitRepo}": change them in the repository`;
    return { selected: { state: 'invalid', message }, notes: [] };
  }
  const client = createClient(transport, 'flotilla');
  const catalogue = createLiveCatalogue(transport);
  await catalogue.refresh();
  const propagation = createPropagation();
  const { namespace } = placement.metadata;
  const lists = new Map<string, readonly KubeObject[]>();
  const objects = new Map<string, KubeObject>();
  const notes: string[] = [];
  const nameOf = ({ group, plural }: Resource, ...rest: readonly (string | undefined)[]) =>
    JSON.stringify([group, plural, ...rest.map((each) => each ?? '')]);
  const placeOf = (resource: Resource, part: Part) => (resource.namespaced ? part.namespace : undefined);

  async function read(resource: Resource, part: Part): Promise<readonly KubeObject[]> {
    const within = placeOf(resource, part);
    try {
      const { items } = await client.list(resource, {
        namespace: within,
        ...(part.name === undefined ? {} : { fields: `metadata.name=${part.name}` }),
      });
      return items;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      notes.push(`${resource.plural} could not be read, and are not counted: ${error.message}`);
      return [];
    }
  }

  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wanted = new Map<string, { readonly resource: Resource; readonly part: Part }>();
    const selection = select({
      namespace,
      selectors: resourceSelectors,
      catalogue,
      propagation,
      sight: {
        list(resource, part) {
          const key = nameOf(resource, placeOf(resource, part), part.name);
          const known = lists.get(key);
          if (known === undefined) wanted.set(key, { resource, part });
          return known;
        },
      },
    });
    if (selection.state === 'invalid') return { selected: selection, notes };
    if (selection.state === 'selected') {
      const wholes = selection.picked.flatMap(
        (each) => objects.get(nameOf(each.resource, each.namespace, each.name)) ?? [],
      );
      const content = contentOf(wholes, marksOf(placement));
      return { selected: { state: 'selected', content, notes: selection.notes }, notes };
    }
    await mapLimit([...wanted], AT_ONCE, async ([key, { resource, part }]) => {
      const items = (await read(resource, part)).map((item) => ({
        ...item,
        apiVersion: apiVersionOf(resource.group, resource.version),
        kind: resource.kind,
      }));
      lists.set(key, items);
      for (const item of items) {
        objects.set(nameOf(resource, item.metadata.namespace, item.metadata.name), item);
      }
    });
  }
  throw new InvariantError('what the placement selects keeps changing');
}
