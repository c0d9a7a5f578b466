// The apply strategy of a placement with defaults; a placement without a strategy has none of its own.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { HubPlacement } from '../placement-sources.ts';

const DEFAULTS: ApplyStrategy = {
  type: 'ClientSideApply',
  comparisonOption: 'PartialComparison',
  whenToApply: 'Always',
  whenToTakeOver: 'Always',
  allowCoOwnership: false,
};

export const applyStrategyOf = ({ spec }: Pick<HubPlacement, 'spec'>): ApplyStrategy =>
  spec.strategy?.applyStrategy ?? DEFAULTS;
