// The address of an object on the member.
import type { Resource } from '../../api/kind.ts';
import type { Target } from '../../api/transport.ts';
import type { Identifier } from './manifest.ts';

export const targetOf = (resource: Resource, { namespace, name = '' }: Identifier): Target => ({
  resource,
  ...(resource.namespaced && namespace !== undefined ? { namespace } : {}),
  name,
});
