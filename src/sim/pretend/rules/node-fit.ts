// Whether a Pod may run on a node: its node selector and required node affinity, and the node's taints.
import type { Node, NodeSelectorTerm, PodSpec, Requirement, Toleration } from '../../../api/builtin/shapes.ts';

/** Whether the node matches the Pod's node selector and affinity. */
export function matchesNode({ nodeSelector, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(nodeSelector ?? {})) if (labels[key] !== value) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => matchesTerm(term, node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  // An empty term matches nothing.
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = metadata.labels ?? {};
  return (
    matchExpressions.every((each) => meets(each, Object.hasOwn(labels, each.key) ? labels[each.key] : undefined)) &&
    matchFields.every((each) => meets(each, each.key === 'metadata.name' ? metadata.name : undefined))
  );
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

/**
 * Whether a taint with one of these effects repels the Pod. A cordoned node counts as tainted, even before the taint is
 * set.
 */
export function repels({ spec }: Node, tolerations: readonly Toleration[] = [], effects: readonly string[]): boolean {
  const taints = [...(spec?.taints ?? []), ...(spec?.unschedulable === true ? [UNSCHEDULABLE] : [])];
  return taints.some((taint) => effects.includes(taint.effect) && !tolerations.some((each) => tolerates(each, taint)));
}

function tolerates(
  toleration: Toleration,
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
}
