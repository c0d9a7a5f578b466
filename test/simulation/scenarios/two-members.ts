// A hub and two members with faults, and the users of a scenario: for scenarios about single objects on members.
import type { LiveCatalogue } from '../../../src/api/catalogue.ts';
import { hubKinds, memberKinds } from '../../../src/api/kinds.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { type Checker, conditionsAreOfTheirObject, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { World } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { agentActor, hubActor, identityOf } from './fleet.ts';
import { type Habit, person } from './person.ts';

export const MEMBERS: readonly string[] = ['c1', 'c2'];
export const FAULT_MS = 90_000;
const SILENCE_MS = 30_000;

export interface Population {
  /** The placed kinds. */
  readonly kinds: LiveCatalogue;
  readonly hub?: { readonly options: Parameters<typeof hubActor>[0]; readonly kinds: LiveCatalogue };
  /** The user of the hub. */
  readonly user: Habit['deed'];
  readonly userPauseMs?: number;
  /** The user of a member, who is active for `forMs`. */
  readonly owner?: { readonly forMs: number; readonly deed: () => Habit['deed'] };
  readonly checks: readonly Checker[];
  /** Describes what is not as expected yet. */
  unsettled(): string | undefined;
}

export interface Size {
  readonly name: string;
  readonly steps: number;
  readonly ciRuns: number;
}

export const twoMembers = ({ name, steps, ciRuns }: Size, populationOf: (world: World) => Population): Scenario => ({
  name,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_800_000,
  steps,
  ciRuns,
  set(world) {
    const { kinds, hub, user, userPauseMs = 4_000, owner, checks, unsettled } = populationOf(world);
    world.server('hub', apiServer({ kinds: hubKinds }));
    const asAdmin = { server: 'hub', as: administrator };
    world.actor('user', person({ forMs: FAULT_MS - 10_000, pauseMs: userPauseMs, deed: user }), {
      servers: { hub: asAdmin },
      steady: true,
    });
    world.actor('hub-1', hubActor(hub?.options ?? {}, hub?.kinds ?? kinds), { servers: { hub: asAdmin } });
    for (const member of MEMBERS) {
      world.server(member, apiServer({ kinds: memberKinds }));
      const own = { server: member, as: administrator };
      world.actor(agentOf(member), agentActor(member, kinds), {
        servers: { hub: { server: 'hub', as: identityOf(member) }, member: own },
      });
      if (owner === undefined) continue;
      world.actor(`${member}-owner`, person({ forMs: owner.forMs, pauseMs: 6_000, deed: owner.deed() }), {
        servers: { hub: own },
        steady: true,
      });
    }
    for (const check of [noWriteLost(), conditionsAreOfTheirObject(), ...checks]) world.check(check);
    return unsettled;
  },
});

export const agentOf = (member: string): string => `${member}-agent`;

/** Only owners of members set it. */
export const MADE_BY_OWNER = 'example.com/made-by-owner';

export const isMadeByOwner = ({ metadata }: KubeObject): boolean => metadata.annotations?.[MADE_BY_OWNER] === 'true';

export const isPlaced = ({ metadata }: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ kind }) => kind === 'AppliedWork');
