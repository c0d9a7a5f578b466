// Builds commands for users to copy. A status, or an object on a member, may contain anything, so only valid names are
// used.
import { NAME } from './which-placement.ts';

interface Named {
  readonly group?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** `deployment/web`; undefined = a name is invalid. */
export function typedName({ group = '', kind, namespace, name }: Named): string | undefined {
  if (![name, ...(namespace === undefined ? [] : [namespace])].every((each) => NAME.test(each))) return undefined;
  if (!/^[A-Za-z]+$/.test(kind) || (group !== '' && !NAME.test(group))) return undefined;
  return `${kind.toLowerCase()}${group === '' || group === 'apps' || group === 'batch' ? '' : `.${group}`}/${name}`;
}

/** The caller has validated `cluster` and the namespace. */
export const kubectlOn = (cluster: string, { namespace }: Pick<Named, 'namespace'>): string =>
  `kubectl --context ${cluster}${namespace === undefined ? '' : ` -n ${namespace}`}`;
