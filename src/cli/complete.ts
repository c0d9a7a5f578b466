// Names for shell completion, from the server. Completion never fails: what cannot be read is not offered.
import { freeze } from '../api/freeze.ts';
import { memberCluster } from '../api/member-cluster.ts';
import { ApiError, LostError, UserError } from '../base/errors.ts';
import { createClient } from '../client/client.ts';
import { familyIn, within } from '../insight/which-run.ts';
import { type ConnectOptions, connect } from './server/connect.ts';

export type Completed = 'placement' | 'run' | 'cluster' | 'freeze';

export async function namesFor(kinds: readonly Completed[], options: ConnectOptions): Promise<readonly string[]> {
  const { namespace } = options;
  const family = familyIn(namespace);
  try {
    using server = await connect(options);
    const client = createClient(server.transport, 'flotilla');
    const names = async (kind: Completed) => {
      const resources = { cluster: memberCluster, freeze, run: family.run, placement: family.placement } as const;
      const resource = resources[kind];
      const query = { view: 'metadata', ...(resource.namespaced ? within(namespace) : {}) } as const;
      const { items } = await client.list(resource, query);
      const prefix = kind === 'placement' || kinds.length > 1 ? `${kind}/` : '';
      return items.map(({ metadata }) => `${prefix}${metadata.name ?? ''}`);
    };
    return (await Promise.all(kinds.map(names))).flat();
  } catch (error) {
    if (error instanceof ApiError || error instanceof LostError || error instanceof UserError) return [];
    throw error;
  }
}
