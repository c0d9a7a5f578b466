// The Works of a member that leaves: they are let go without their manifests being touched.
import { by } from '../../base/compare.ts';
import { assertUnchanged, patch, seen } from '../../runtime/actions.ts';
import type { Action, Source } from '../../runtime/controller.ts';
import { type HubNamespace, namespaces } from '../sources.ts';
import { works as workSource } from '../work-source.ts';
import type { HeldWork } from './observed.ts';

/** Still held by a finalizer. */
export const isHeld = ({ metadata }: HeldWork): boolean => (metadata.finalizers ?? []).length > 0;

/**
 * All finalizers are removed, since no agent is left to honor them. If the namespace is not the one that we saw, then the Works that we saw may be
 * those of a member that came under the same name.
 */
export function releaseWorks(namespace: HubNamespace, works: readonly HeldWork[]): readonly (readonly Action[])[] {
  const held = works.filter(isHeld).toSorted(by((work) => work.metadata.name ?? ''));
  if (held.length === 0) return [];
  return [
    [assertUnchanged(seen(namespaces, namespace), 'makes sure that the Works are those of this namespace')],
    held.map((work) =>
      patch(
        seen(workSource as Source<HeldWork>, work),
        { metadata: { finalizers: null } },
        `removes the finalizer from Work ${work.metadata.name}`,
      ),
    ),
  ];
}
