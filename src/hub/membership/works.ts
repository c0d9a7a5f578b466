// The Works of a leaving member: their finalizers are removed without touching the manifests.
import { by } from '../../base/compare.ts';
import { assertUnchanged, patch, seen } from '../../runtime/actions.ts';
import type { Action, Source } from '../../runtime/controller.ts';
import { type HubNamespace, namespaces } from '../sources.ts';
import { works as workSource } from '../work-source.ts';
import type { HeldWork } from './observed.ts';

/** Has a finalizer. */
export const isHeld = ({ metadata }: HeldWork): boolean => (metadata.finalizers ?? []).length > 0;

/**
 * Removes all finalizers, because no agent is left to do it. If the namespace was replaced since it was read, the Works
 * may belong to a new member of the same name, so this is checked first.
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
