// The Works of a member that leaves: they are let go without their manifests being touched.
import { by } from '../../base/compare.ts';
import { ascertain, patch, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { type HubNamespace, type HubWork, namespaces, works as workSource } from '../sources.ts';

/** Still held by a finalizer. */
export const isHeld = ({ metadata }: HubWork): boolean => (metadata.finalizers ?? []).length > 0;

/**
 * All finalizers go, since nobody is left to honour them. If the namespace is not the one that we saw, then the Works that we saw may be
 * those of a member that came under the same name.
 */
export function releaseWorks(namespace: HubNamespace, works: readonly HubWork[]): readonly (readonly Action[])[] {
  const held = works.filter(isHeld).toSorted(by((work) => work.metadata.name ?? ''));
  if (held.length === 0) return [];
  return [
    [ascertain(seen(namespaces, namespace), 'makes sure that the Works are those of this namespace')],
    held.map((work) =>
      patch(seen(workSource, work), { metadata: { finalizers: null } }, `lets go of Work ${work.metadata.name}`),
    ),
  ];
}
