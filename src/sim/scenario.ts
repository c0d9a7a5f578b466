// A scenario is a world with its actors, its invariants, and its expected end state. Faults last for a while; then the
// world has time to heal, and must remain healed.
import { seededRandom } from '../base/random.ts';
import type { Failure } from './check.ts';
import { noFaults, type Rates, randomFaults } from './faults.ts';
import type { Matrix } from './matrix.ts';
import type { TraceOptions } from './trace.ts';
import { createWorld, WORLD_START_MS, type World } from './world.ts';

export interface Scenario {
  readonly name: string;
  /** A period without faults at the beginning, so that there is something that can fail. */
  readonly calmMs?: number;
  /** The end of the faults. */
  readonly faultMs: number;
  /** How long after that clients may fail to notice the recovery, because they send no request. */
  readonly dazedMs?: number;
  /** How long healing may take after that. */
  readonly healMs: number;
  /** The maximum number of steps. */
  readonly steps: number;
  readonly rates?: Rates;
  /** How many seeds CI plays; 0 = none yet, because it still finds bugs that are not fixed. */
  readonly ciRuns: number;
  /** Fills the world. The returned function describes what is not as expected yet. */
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
  /** No faults: the seed determines only the order of events. */
  readonly isCalm?: boolean;
}

/** How long a healed world is observed. */
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
