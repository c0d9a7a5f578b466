// A scenario is a world with a purpose: who lives there, what must always hold, and what must be so in the end. Faults last for a while;
// after that the world has time to heal, and must then stay as it is.
import { seededRandom } from '../base/random.ts';
import type { Failure } from './check.ts';
import { noFaults, type Rates, randomFaults } from './faults.ts';
import type { Matrix } from './matrix.ts';
import type { TraceOptions } from './trace.ts';
import { createWorld, WORLD_START_MS, type World } from './world.ts';

export interface Scenario {
  readonly name: string;
  /** How long things go well first, so that there is something that can go wrong. */
  readonly calmMs?: number;
  /** Until when things go wrong. */
  readonly faultMs: number;
  /** How long after that the recovery may go unnoticed, because no request is sent. */
  readonly dazedMs?: number;
  /** How long healing may take after that. */
  readonly healMs: number;
  /** How many steps all of it may take. */
  readonly steps: number;
  readonly rates?: Rates;
  /** How many seeds are played in CI; 0 = none yet, because it still finds what is not fixed. */
  readonly ciRuns: number;
  /** Fills the world. The function that it returns says what is not yet as it should be. */
  set(world: World): () => string | undefined;
}

export interface Played {
  readonly seed: number;
  readonly hash: string;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly matrix: Matrix;
  readonly failure?: Failure;
}

export interface PlayOptions extends TraceOptions {
  readonly seed: number;
  /** Only the order of events is chosen by the seed. */
  readonly isCalm?: boolean;
}

/** How long a healed world is watched. */
const REST_MS = 60_000;

export async function play(scenario: Scenario, { seed, isCalm = false, ...trace }: PlayOptions): Promise<Played> {
  const faultsEnd = WORLD_START_MS + scenario.faultMs;
  const faults = isCalm
    ? noFaults
    : randomFaults({
        random: seededRandom(seed).fork('faults'),
        ...(scenario.calmMs === undefined ? {} : { startsAt: WORLD_START_MS + scenario.calmMs }),
        endsAt: faultsEnd,
        ...(scenario.rates ? { rates: scenario.rates } : {}),
      });
  const world = createWorld({ seed, faults, ...trace });
  const unsettled = scenario.set(world);
  const askedFrom = faultsEnd + (scenario.dazedMs ?? 0);
  const healed = await world.run(() => world.now >= askedFrom && unsettled() === undefined, {
    steps: scenario.steps,
    simulatedMs: askedFrom - WORLD_START_MS + scenario.healMs,
  });
  let failure = healed.failure;
  if (!failure && healed.result !== 'done') {
    failure = world.objection(
      'the world heals',
      `${unsettled() ?? 'it is as it should be, but too early'} (${healed.result})`,
    );
  }
  if (!failure) {
    const restUntil = world.now + REST_MS;
    const rested = await world.run(() => world.now >= restUntil, { steps: scenario.steps, simulatedMs: REST_MS });
    failure = rested.failure;
    const relapse = unsettled();
    if (!failure && relapse !== undefined) failure = world.objection('the world stays healed', relapse);
  }
  return {
    seed,
    hash: world.traceHash(),
    steps: world.steps,
    simulatedMs: world.now - WORLD_START_MS,
    matrix: world.matrix,
    ...(failure ? { failure } : {}),
  };
}
