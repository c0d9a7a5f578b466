// A hub with staged update runs under all faults: hubs, agents and the API server crash, calls are lost, watches are
// unreliable, and a user changes everything.
//
// `staged`: two hub processes, one of which is the leader. `staged-two-leaders`: both act, each with its own cache.
// `staged-namespaced`: like the first, with everything in a namespace. The invariants are in staged-checks.ts.
import { hubKinds } from '../../../src/api/kinds.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { conditionsAreOfTheirObject, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { administrator, apiServer } from './api-server.ts';
import { hubActor, hubIdentity, identityOf, ledHubActor, placedKinds } from './fleet.ts';
import { lightMemberActor } from './light-member.ts';
import { person } from './person.ts';
import { stagedCheckers } from './staged-checks.ts';
import { unsettled } from './staged-end.ts';
import { APP, MEMBERS, stagedHelper, stagedPerson } from './staged-person.ts';

const HUBS = ['hub-1', 'hub-2'];
const CALM_MS = 6_000;
const FAULT_MS = 100_000;
const SILENCE_MS = 60_000;
const DAZED_MS = SILENCE_MS + 30_000;
/** Small compared with the waits, which are measured by clocks with this skew. */
const SKEW_MS = 2_000;
const SETTINGS = { forceDeleteWaitMs: 120_000, runs: { stuckAfterMs: 60_000 } };

export interface StagedOptions {
  readonly name: string;
  /** One of the two hubs leads, or both act. */
  readonly isLed: boolean;
  readonly family: PlacementFamily;
  readonly ciRuns: number;
  /** Strategies change more often than by the user. */
  readonly relabels?: boolean;
}

export const stagedScenario = ({ name, isLed, family, ciRuns, relabels = false }: StagedOptions): Scenario => ({
  name,
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS, clockSkewMs: SKEW_MS },
  dazedMs: DAZED_MS,
  healMs: 1_200_000,
  steps: 100_000,
  ciRuns,
  set(world) {
    const kinds = placedKinds();
    const members = Object.keys(MEMBERS);
    world.server('hub', apiServer({ kinds: hubKinds, isDurable: world.seed % 10 === 0 }));
    const deed = stagedPerson({ family, seed: world.seed, members });
    world.actor('user', person({ forMs: FAULT_MS, pauseMs: 2_500, deed }), {
      servers: { hub: { server: 'hub', as: administrator } },
      steady: true,
    });
    const helps = person({ forMs: FAULT_MS + DAZED_MS, pauseMs: 9_000, deed: stagedHelper({ family, relabels }) });
    world.actor('helper', helps, { servers: { hub: { server: 'hub', as: administrator } }, steady: true });
    for (const hub of HUBS) {
      const actor = isLed ? ledHubActor(hub, SETTINGS, kinds) : hubActor(SETTINGS, kinds);
      world.actor(hub, actor, { servers: { hub: { server: 'hub', as: hubIdentity } } });
    }
    for (const cluster of members) {
      world.actor(`${cluster}-agent`, lightMemberActor({ cluster, namespace: APP }), {
        servers: { hub: { server: 'hub', as: identityOf(cluster) } },
      });
    }
    world.check(noWriteLost());
    world.check(conditionsAreOfTheirObject());
    const story = { family, hubs: HUBS, skewMs: SKEW_MS, leaders: isLed ? 1 : HUBS.length };
    for (const checker of stagedCheckers(story)) world.check(checker);
    return () => unsettled(world, family);
  },
});
