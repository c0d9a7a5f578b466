// The strategy of each type. External has none here: staged update runs own its bindings.
import type { PlacementSpec } from '../../api/placement.ts';
import { partitioned } from './partitioned.ts';
import { rollingUpdate } from './rolling-update.ts';
import type { Strategy } from './strategy.ts';

export type StrategyType = NonNullable<PlacementSpec['strategy']>['type'];

const STRATEGIES: Readonly<Record<NonNullable<StrategyType>, Strategy | undefined>> = {
  RollingUpdate: rollingUpdate,
  Partitioned: partitioned,
  External: undefined,
};

interface Specified {
  readonly spec: Pick<PlacementSpec, 'strategy'>;
}

export const strategyTypeOf = ({ spec }: Specified): NonNullable<StrategyType> =>
  spec.strategy?.type ?? 'RollingUpdate';

/** undefined = staged update runs move the bindings. */
export const strategyOf = (placement: Specified): Strategy | undefined => STRATEGIES[strategyTypeOf(placement)];

/** Staged update runs decide which cluster gets which revision. */
export const isExternal = (placement: Specified): boolean => strategyOf(placement) === undefined;
