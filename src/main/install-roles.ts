// The roles for users on an embedded hub. Updated at each start, so that a hub with older data gets those of this
// version.
import { clusterRoleResource as resource } from '../api/resources.ts';
import type { Transport } from '../api/transport.ts';
import { ApiError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import { rolesFor } from '../cli/setup/roles.ts';

const MANAGER = 'flotilla-up';

export async function installRoles(hub: Transport): Promise<void> {
  for (const role of rolesFor('people')) {
    try {
      await hub.call({ verb: 'create', at: { resource }, object: role, manager: MANAGER });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
      const at = { resource, ...(role.metadata.name === undefined ? {} : { name: role.metadata.name }) };
      const body = role as unknown as Json;
      await hub.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: MANAGER });
    }
  }
}
