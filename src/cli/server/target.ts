// The location of a manifest or name on the server, and how commands print it.
import type { KubeObject } from '../../api/object.ts';
import { qualified } from '../../api/status.ts';
import type { Target } from '../../api/transport.ts';
import { UserError } from '../../base/errors.ts';
import type { KnownResource } from '../../client/discovery.ts';
import type { Connected } from './connect.ts';

export interface Print {
  line(text: string): void;
  warning(text: string): void;
  error(text: string): void;
}

/** The namespace is that of the object, else that of the command. */
export function targetOf(
  server: Pick<Connected, 'catalogue' | 'namespace'>,
  object: KubeObject,
): Target & { readonly name: string } {
  const resource = server.catalogue.byKind(object.apiVersion, object.kind);
  const { name } = object.metadata;
  if (!name) throw new UserError('ManifestInvalid', `a ${object.kind} without metadata.name cannot be applied`);
  return { resource, name, ...namespaceFor(server, resource, object.metadata.namespace) };
}

export const namespaceFor = (
  server: Pick<Connected, 'namespace'>,
  resource: KnownResource,
  own?: string,
): { readonly namespace?: string } => (resource.namespaced ? { namespace: own ?? server.namespace } : {});

/** `deployment.apps/web` */
export const refer = (at: Target & { readonly name: string }): string => {
  const { resource, name } = at;
  return `${qualified({ group: resource.group, plural: resource.kind.toLowerCase() })}/${name}`;
};
