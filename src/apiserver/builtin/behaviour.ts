// The behavior that most built-in kinds share; kinds override single fields.
import type { KubeObject } from '../../api/object.ts';
import {
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  nameErrorBy,
  pathSegmentErrors,
} from '../../base/names.ts';
import type { Behaviour, Draft, WriteContext } from '../registry.ts';

export type NameRule = Behaviour['nameError'];

export const subdomainName: NameRule = nameErrorBy(dnsSubdomainErrors);
export const labelName: NameRule = nameErrorBy(dnsLabelErrors);
export const serviceName: NameRule = nameErrorBy(dns1035LabelErrors);
/** RBAC objects, Events: everything that a URL segment can contain. */
export const pathName: NameRule = nameErrorBy(pathSegmentErrors);

export const behaviour = (special: Partial<Behaviour> = {}): Behaviour => ({
  countsGeneration: false,
  createOnUpdate: false,
  unconditionalUpdate: true,
  returnsDeleted: false,
  nameError: subdomainName,
  ...special,
});

/** On create the server sets the initial status, whatever the client sends. Later writes keep the stored one. */
export const startsWith =
  (status: () => object | undefined) =>
  (draft: Draft, old: KubeObject | undefined, _context: WriteContext): void => {
    if (old !== undefined) return;
    const first = status();
    if (first === undefined) delete draft.status;
    else draft.status = first;
  };

/** `spec` of a draft, created if absent. */
export function specOf<Spec extends object>(draft: Draft): Spec {
  draft.spec ??= {};
  return draft.spec as Spec;
}

/** Reads a string of an object for field selectors; an absent one reads as ''. */
export function textAt(...path: readonly string[]): (object: KubeObject) => string {
  return (object) => {
    let value: unknown = object;
    for (const step of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return '';
      value = (value as Record<string, unknown>)[step];
    }
    return value === undefined || value === null ? '' : String(value);
  };
}
