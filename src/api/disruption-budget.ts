// ClusterResourcePlacementDisruptionBudget: limits how many clusters of a placement evictions may remove. It has the
// name of the placement.
import { defineKind, type Infer, rule, s, type WithSpec } from './build.ts';
import { age, text } from './columns.ts';
import { admitBudget, budgetReads } from './eviction-admission.ts';
import { BETA_AND_ALPHA, placementGroup } from './groups.ts';
import type { Kind } from './kind.ts';
import { PERCENT } from './patterns.ts';

const spec = s.object(
  {
    maxUnavailable: s.optional(
      s.intOrString({
        doc: 'How many clusters, or which share of them, may be unavailable.',
        minimum: 0,
        pattern: PERCENT,
      }),
    ),
    minAvailable: s.optional(
      s.intOrString({
        doc: 'How many clusters, or which share of them, must stay available.',
        minimum: 0,
        pattern: PERCENT,
      }),
    ),
  },
  {
    doc: 'The limit; without one, no eviction is allowed.',
    rules: [
      rule('!(has(self.maxUnavailable) && has(self.minAvailable))', 'set maxUnavailable or minAvailable, not both'),
    ],
  },
);

const kind = defineKind({
  in: placementGroup,
  versions: BETA_AND_ALPHA,
  namespaced: false,
  kind: 'ClusterResourcePlacementDisruptionBudget',
  plural: 'clusterresourceplacementdisruptionbudgets',
  short: 'crpdb',
  doc: 'Limits evictions from the ClusterResourcePlacement of the same name.',
  spec,
  columns: [text('Max-Unavailable', '.spec.maxUnavailable'), text('Min-Available', '.spec.minAvailable'), age],
});

export const disruptionBudget: Kind<DisruptionBudgetSpec> = Object.freeze({
  ...kind,
  admit: admitBudget,
  reads: budgetReads,
});

export type DisruptionBudgetSpec = Infer<typeof spec>;
export type DisruptionBudget = WithSpec<DisruptionBudgetSpec>;
