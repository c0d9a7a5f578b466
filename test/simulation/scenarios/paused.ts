// A placement that is paused again and again, for minutes, under faults, while its content and its policy change. The
// seed decides whether it is RollingUpdate or Partitioned.
//
// Nothing is placed, updated or removed while it is paused, and everything moves once it is resumed.
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../../src/sim/world.ts';
import { administrator } from './api-server.ts';
import { nothingMovesWhilePaused } from './freeze-checks.ts';
import { CLUSTERS, MEMBERS, notDelivered, picking, STRATEGIES } from './freezes.ts';
import { person } from './person.ts';
import { APP, type Deed, merge, placed, release, settleFleet } from './rollout-world.ts';

const CALM_MS = 15_000;
const FAULT_MS = 500_000;
const SILENCE_MS = 45_000;
const DAZED_MS = SILENCE_MS + 30_000;
const PAUSE_MS = 14_000;
const OWN = STRATEGIES.filter(({ type }) => type !== 'External');

export const pausedScenario: Scenario = {
  name: 'paused',
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: DAZED_MS,
  healMs: 1_200_000,
  steps: 200_000,
  ciRuns: 60,
  set(world) {
    const strategy = OWN[world.seed % OWN.length] as object;
    const forMs = FAULT_MS - 5_000;
    settleFleet(world, {
      members: MEMBERS,
      isLed: true,
      strategy,
      isSteady: true,
      forMs,
      pauseMs: PAUSE_MS,
      deed: changes(),
    });
    const deed = resumed(world);
    world.actor('helper', person({ forMs: FAULT_MS + DAZED_MS + 900_000, pauseMs: PAUSE_MS, deed }), {
      servers: { hub: { server: 'hub', as: administrator } },
      steady: true,
    });
    world.check(nothingMovesWhilePaused(APP));
    return () => notDelivered(world);
  },
};

const setPaused = (paused: boolean) => ({ spec: { strategy: { paused } } });

/** A pause rarely ends, so that most of them last longer than a hub may not see them. */
function changes(): Deed {
  const next = release();
  return (api, roll) => {
    switch (roll(20)) {
      case 0:
        return merge(api, placed, setPaused(false));
      case 1:
      case 2:
      case 3:
        return merge(api, placed, setPaused(true));
      case 4:
      case 5:
      case 6:
      case 7: {
        const some = CLUSTERS.filter(() => roll(2) === 0);
        return merge(api, placed, { spec: { policy: picking(some.length === 0 ? CLUSTERS : some) } });
      }
      default:
        return next(api, roll, false);
    }
  };
}

/** Resumes the placement after the faults. */
const resumed =
  (world: World): Deed =>
  async (api) => {
    if (world.clock.now() > WORLD_START_MS + FAULT_MS) await merge(api, placed, setPaused(false));
  };
