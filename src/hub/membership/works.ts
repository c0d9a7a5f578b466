// The Works of a member that leaves: they are let go without their manifests being touched.
import { by } from '../../base/compare.ts';
import { patch, seen } from '../../runtime/actions.ts';
import type { Action } from '../../runtime/controller.ts';
import { type HubWork, works as workSource } from '../sources.ts';

/** Still held by a finalizer. */
export const isHeld = ({ metadata }: HubWork): boolean => (metadata.finalizers ?? []).length > 0;

/** One step: the Works are independent of each other. All finalizers go, since nobody is left to honour them. */
export function releaseWorks(works: readonly HubWork[]): readonly (readonly Action[])[] {
  const held = works.filter(isHeld).toSorted(by((work) => work.metadata.name ?? ''));
  if (held.length === 0) return [];
  return [
    held.map((work) =>
      patch(seen(workSource, work), { metadata: { finalizers: null } }, `lets go of Work ${work.metadata.name}`),
    ),
  ];
}
