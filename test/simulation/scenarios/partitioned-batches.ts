// The first batch of a partitioned rollout whose content works nowhere, while writes conflict or are lost and the hub
// crashes: the whole batch is installed, and nothing else. The user deletes the placement and creates it again, so that
// some clusters wait for their old bindings.
import { annotations } from '../../../src/api/names.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { ensure } from './fleet.ts';
import {
  allowedIn,
  batchesAreGated,
  members,
  PARTITIONS,
  partitionsAreEnteredInTurn,
  strategyOf,
} from './partitioned.ts';
import { bindingsIn, type Deed, isDeleting, placed, placementWith, settleFleet } from './rollout-world.ts';

const CALM_MS = 15_000;
const FAULT_MS = 80_000;
const SILENCE_MS = 60_000;
/** Out of the four clusters of the first partition. */
const BATCH = 3;

export const partitionedBatchesScenario: Scenario = {
  name: 'partitioned-batches',
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_200_000,
  steps: 100_000,
  ciRuns: 80,
  set(world) {
    const allowed = allowedIn(world.seed);
    const strategy = strategyOf(allowed, BATCH);
    const deed = placesAgain(strategy);
    settleFleet(world, { members, isLed: true, strategy, text: 'bad0', forMs: FAULT_MS - 5_000, pauseMs: 8_000, deed });
    world.check(partitionsAreEnteredInTurn(allowed));
    world.check(batchesAreGated(1, BATCH));
    return () => unsettled(world.store('hub'));
  },
};

/** Creates the placement if it does not exist, and sometimes deletes it. */
function placesAgain(strategy: object): Deed {
  return async (api, roll) => {
    if (roll(4) === 0) await api.call({ verb: 'delete', at: placed });
    await ensure(api, { resource: placed.resource }, placementWith(strategy));
  };
}

function unsettled(store: Readable | undefined): string | undefined {
  if (store === undefined) return 'the hub is down';
  const { group, plural } = placed.resource;
  const placement = store.get(`${group}/${plural}//${placed.name}`)?.object();
  const all = bindingsIn(store);
  if (placement === undefined) return all.length === 0 ? undefined : 'bindings are left of a placement that is deleted';
  const live = all.filter((binding) => !isDeleting(binding));
  const bound = live.filter(({ spec }) => spec.state === 'Bound');
  if (bound.length === 0) return 'no cluster has it';
  const named = new Set(bound.flatMap(({ metadata }) => metadata.annotations?.[annotations.batch]?.split(',') ?? []));
  const missing = live.filter(({ metadata, spec }) => named.has(metadata.uid ?? '') && spec.state !== 'Bound');
  if (missing.length > 0) return `${missing.map(({ spec }) => spec.targetCluster).join(', ')} of the batch wait`;
  // The second cluster would have created a record.
  const first = bound.filter(({ spec }) => PARTITIONS[0]?.includes(spec.targetCluster));
  return first.length > 1 && named.size === 0 ? `${first.length} clusters have it and no record` : undefined;
}
