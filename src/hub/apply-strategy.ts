// How a placement's objects are to be written, with the defaults in place: a placement without a strategy has none of its own.
import type { ApplyStrategy } from '../api/apply-strategy.ts';
import type { HubPlacement } from './placement-sources.ts';

const DEFAULTS: ApplyStrategy = {
  type: 'ClientSideApply',
  comparisonOption: 'PartialComparison',
  whenToApply: 'Always',
  whenToTakeOver: 'Always',
  allowCoOwnership: false,
};

export const applyStrategyOf = ({ spec }: Pick<HubPlacement, 'spec'>): ApplyStrategy =>
  spec.strategy?.applyStrategy ?? DEFAULTS;

/** A merge patch from one strategy to another that leaves nothing of the first. */
export function replacing(old: ApplyStrategy | undefined, next: ApplyStrategy): object {
  const gone = Object.keys(old ?? {}).filter((field) => !(field in next));
  return { ...next, ...Object.fromEntries(gone.map((field) => [field, null])) };
}
