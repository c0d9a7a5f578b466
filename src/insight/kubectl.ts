// The words of commands to copy. A status, or an object on a member, may contain anything: only what can be a name gets into one.
import { NAME } from './which-placement.ts';

interface Named {
  readonly group?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** `deployment/web`; undefined = it cannot be typed. */
export function typedName({ group = '', kind, namespace, name }: Named): string | undefined {
  if (![name, ...(namespace === undefined ? [] : [namespace])].every((each) => NAME.test(each))) return undefined;
  if (!/^[A-Za-z]+$/.test(kind) || (group !== '' && !NAME.test(group))) return undefined;
  return `${kind.toLowerCase()}${group === '' || group === 'apps' || group === 'batch' ? '' : `.${group}`}/${name}`;
}

/** `cluster` and the namespace were looked at by the caller. */
export const kubectlOn = (cluster: string, { namespace }: Pick<Named, 'namespace'>): string =>
  `kubectl --context ${cluster}${namespace === undefined ? '' : ` -n ${namespace}`}`;
