// Reads the overrides of a placement from the hub with the caller's permissions. Read-only.
import type { Resource } from '../../api/kind.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { candidatesAmong, type OverrideInForce } from '../../hub/overrides/in-force.ts';
import type { HubOverrideSnapshot } from '../../hub/overrides/matching.ts';
import { overrideFamilies } from '../../hub/overrides/sources.ts';
import { within } from '../../insight/which-run.ts';

interface Listed<T> {
  readonly resource: Resource;
  project?(object: KubeObject): T;
}

/** All overrides that may apply to the placement; kinds that are not installed or may not be read are skipped. */
export async function readOverrides(
  client: Pick<Client, 'list'>,
  placed: ObjectMeta,
): Promise<readonly OverrideInForce[]> {
  const list = async <T>(source: Listed<T>): Promise<readonly T[]> => {
    try {
      const { items } = await client.list(source.resource, source.resource.namespaced ? within(placed.namespace) : {});
      return items.flatMap((each) => source.project?.(each) ?? []);
    } catch (error) {
      if (error instanceof ApiError) return [];
      throw error;
    }
  };
  const found = await Promise.all(
    overrideFamilies.map(async ({ overrides, snapshots }) => {
      const all = await list(overrides);
      const taken: readonly HubOverrideSnapshot[] = all.length === 0 ? [] : await list(snapshots);
      const isOf = ({ metadata }: { readonly metadata: ObjectMeta }) =>
        taken.filter((each) => each.override === metadata.name && each.metadata.namespace === metadata.namespace);
      return candidatesAmong(all, isOf, placed);
    }),
  );
  return found.flat();
}
