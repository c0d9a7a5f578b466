// Properties that hold for every fleet, policy and history, even if the scheduler crashes between any two writes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/properties.ts';
import { annotations } from '../../api/names.ts';
import type { KubeObject } from '../../api/object.ts';
import type { PlacementPolicy } from '../../api/placement-policy.ts';
import type { Action } from '../../runtime/controller.ts';
import {
  aMember,
  type BindingSetup,
  both,
  Hub,
  having,
  key,
  MINUTE,
  NODES,
  NOW,
  prefers,
  requires,
  sortedBy,
  specOf,
  spreads,
  term,
} from './scheduler.testing.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const anyCluster = fc.constantFrom(...NAMES);

const anyMembers = fc
  .uniqueArray(
    fc.record({
      name: anyCluster,
      region: fc.constantFrom('x', 'y', 'z', undefined),
      tier: fc.constantFrom('gold', 'tin'),
      isTainted: fc.boolean(),
      nodes: fc.constantFrom('0', '3', '5', '1500m', 'many', undefined),
      heartbeat: fc.constantFrom(NOW, NOW, NOW, NOW - 6 * MINUTE, undefined),
      leaving: fc.constantFrom(false, false, false, true),
    }),
    { selector: ({ name }) => name },
  )
  .map((all) =>
    all
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, region, tier, isTainted, nodes, heartbeat, leaving }) =>
        aMember(name, {
          labels: { tier, ...(region === undefined ? {} : { region }) },
          taints: isTainted ? ['a=b'] : [],
          ...(nodes === undefined ? {} : { properties: { [NODES]: nodes } }),
          heartbeat,
          leaving,
        }),
      ),
  );

const anyDetail = fc.record({
  affinity: fc.constantFrom(
    {},
    requires(term(key('tier', 'In', 'gold'))),
    requires(having(`${NODES} Ge 3`), term(key('tier', 'In', 'tin'))),
  ),
  preference: fc.constantFrom({}, prefers([50, sortedBy(NODES, 'Ascending')], [-20, term(key('tier', 'In', 'gold'))])),
  tolerations: fc.constantFrom({}, { tolerations: [{ operator: 'Exists' as const }] }),
});
const anySpread = fc.constantFrom<Partial<PlacementPolicy>>(
  spreads(['region', 'DoNotSchedule', 1]),
  spreads(['region', 'ScheduleAnyway', 2]),
  spreads(['region', 'DoNotSchedule', 1], ['tier', 'ScheduleAnyway', 1]),
);

const plainPolicy: fc.Arbitrary<PlacementPolicy | undefined> = fc.oneof(
  fc.constant(undefined),
  anyDetail.map(({ affinity, tolerations }) => ({ placementType: 'PickAll' as const, ...affinity, ...tolerations })),
  anyDetail.map(({ affinity, preference, tolerations }) => ({
    placementType: 'PickN' as const,
    ...both(affinity, preference),
    ...tolerations,
  })),
  fc.uniqueArray(fc.constantFrom(...NAMES, 'nowhere')).map((clusterNames) => ({
    placementType: 'PickFixed' as const,
    clusterNames,
  })),
);
const spreadPolicy: fc.Arbitrary<PlacementPolicy | undefined> = fc
  .tuple(anyDetail, anySpread)
  .map(([{ affinity, preference, tolerations }, spread]) => ({
    placementType: 'PickN' as const,
    ...both(affinity, preference),
    ...tolerations,
    ...spread,
  }));

const anyBindings: fc.Arbitrary<Record<string, BindingSetup>> = fc.dictionary(
  anyCluster,
  fc.oneof(
    fc.record({ state: fc.constantFrom('Scheduled' as const, 'Bound' as const), under: fc.constantFrom(0, 1) }),
    fc.record({
      state: fc.constant('Unscheduled' as const),
      previous: fc.constantFrom('Scheduled' as const, 'Bound' as const),
    }),
    fc.record({ state: fc.constantFrom('Scheduled' as const, 'Bound' as const), deleting: fc.constant(true) }),
  ),
  { maxKeys: 6 },
);

const anySetup = (policy: fc.Arbitrary<PlacementPolicy | undefined>) =>
  fc.record({ members: anyMembers, policy, bindings: anyBindings, n: fc.integer({ min: 0, max: 7 }) }).map((setup) => ({
    ...setup,
    make: () =>
      new Hub({
        snapshot: 1,
        members: setup.members,
        bindings: setup.bindings,
        numberOfClusters: setup.n,
        ...(setup.policy === undefined ? {} : { policy: setup.policy }),
      }),
  }));
const anyPolicy = fc.oneof(plainPolicy, spreadPolicy);

const isLive = (binding: KubeObject) =>
  binding.metadata.deletionTimestamp === undefined && specOf(binding).state !== 'Unscheduled';

function checkInvariants(hub: Hub): void {
  const live = hub.bindings.filter(isLive).map((each) => specOf(each).targetCluster);
  expect(new Set(live).size, 'a cluster has two live bindings').toBe(live.length);
}

/**
 * The specs of all bindings. Names are left out: the name of a successor depends on whether its predecessor still
 * existed.
 */
const shape = (hub: Hub) => hub.bindings.map(({ spec }) => JSON.stringify(spec)).toSorted();

/** Performs all steps before the chosen one, and a random part of that step in any order. */
function dying(hub: Hub, dice: () => number): void {
  const { steps } = hub.decide();
  const at = steps.length === 0 ? 0 : dice() % steps.length;
  for (const step of steps.slice(0, at)) for (const action of step) hub.perform(action);
  for (const action of steps[at] ?? []) if (dice() % 2 === 0) hub.perform(action as Action);
}

const anyDice = fc.infiniteStream(fc.nat(1000)).map((stream) => () => stream.next().value as number);
const RUNS = { numRuns: runs(150) };

describe('whatever the fleet, the policy and what is there', () => {
  test('it settles at once, with one live binding per cluster and never more than wanted', () => {
    fc.assert(
      fc.property(anySetup(anyPolicy), ({ make, policy, n }) => {
        const hub = make();
        for (let pass = 0; pass < 2; pass++) {
          hub.pass();
          checkInvariants(hub);
        }
        expect(hub.pass()).toEqual([]);
        if (policy?.placementType === 'PickN') expect(hub.live.length).toBeLessThanOrEqual(n);
        // The status matches the existing bindings.
        const current = hub.bindings.filter(isLive).map((each) => specOf(each).clusterDecision);
        for (const told of (hub.status.targetClusters ?? []).filter(({ selected }) => selected)) {
          expect(current).toContainEqual(told);
        }
        // No binding of an earlier policy is left.
        for (const each of hub.bindings.filter(isLive)) {
          if (policy?.placementType !== 'PickFixed') expect(specOf(each).schedulingPolicySnapshotName).toBe('web-1');
        }
      }),
      RUNS,
    );
  });

  test('what is under the current policy is only given up when fewer are wanted or its cluster leaves', () => {
    fc.assert(
      fc.property(anySetup(anyPolicy), ({ make, members, policy, n }) => {
        const hub = make();
        const stays = new Set(
          members.filter((each) => each.metadata.deletionTimestamp === undefined).map((each) => each.metadata.name),
        );
        const before = hub.bindings.filter(
          (each) =>
            isLive(each) &&
            specOf(each).schedulingPolicySnapshotName === 'web-1' &&
            stays.has(specOf(each).targetCluster),
        );
        hub.settle();
        const kept = before.filter((each) => hub.live.includes(specOf(each).targetCluster));
        expect(kept.length).toBe(policy?.placementType === 'PickN' ? Math.min(n, before.length) : before.length);
      }),
      RUNS,
    );
  });

  test('DoNotSchedule is never violated by what a cycle picks', () => {
    const setup = fc.tuple(anyMembers, anyDetail, fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 2 }));
    fc.assert(
      fc.property(setup, ([members, { affinity, preference, tolerations }, n, maxSkew]) => {
        const policy = {
          placementType: 'PickN' as const,
          ...both(affinity, preference),
          ...tolerations,
          ...spreads(['region', 'DoNotSchedule', maxSkew]),
        };
        const hub = new Hub({ members, policy, numberOfClusters: n });
        hub.settle();
        const counts = new Map<string, number>();
        for (const { metadata } of members) {
          const region = metadata.labels?.['region'];
          const isLiveThere = hub.live.includes(metadata.name ?? '') ? 1 : 0;
          if (region !== undefined) counts.set(region, (counts.get(region) ?? 0) + isLiveThere);
        }
        if (counts.size === 0) return;
        // A single domain has no skew.
        expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(maxSkew);
      }),
      RUNS,
    );
  });

  test('in another order it is the same decision', () => {
    fc.assert(
      fc.property(anySetup(anyPolicy), fc.nat(), ({ make }, by) => {
        const [hub, other] = [make(), make()];
        const turn = by % Math.max(1, other.bindings.length);
        other.bindings = [...other.bindings.slice(turn), ...other.bindings.slice(0, turn)].reverse();
        other.members = other.members.toReversed();
        const writes = (each: Hub) =>
          each.decide().steps.map((step) => step.map((action) => JSON.stringify(action)).toSorted());
        expect(writes(other)).toEqual(writes(hub));
      }),
      RUNS,
    );
  });

  test('who dies anywhere ends where who lives does', () => {
    fc.assert(
      fc.property(anySetup(plainPolicy), anyDice, ({ make }, dice) => {
        const [hub, mortal] = [make(), make()];
        hub.settle();
        for (let life = 0; life < 4; life++) {
          dying(mortal, dice);
          checkInvariants(mortal);
        }
        mortal.settle();
        expect(shape(mortal)).toEqual(shape(hub));
        expect(mortal.status.targetClusters?.filter(({ selected }) => selected)).toEqual(
          hub.status.targetClusters?.filter(({ selected }) => selected),
        );
      }),
      RUNS,
    );
  });

  // A spread is judged pick by pick, so an interrupted run may lead to other, equally good picks.
  test('who dies within a spread ends with as many, within N', () => {
    fc.assert(
      fc.property(anySetup(spreadPolicy), anyDice, ({ make, n }, dice) => {
        const mortal = make();
        for (let life = 0; life < 4; life++) {
          dying(mortal, dice);
          checkInvariants(mortal);
        }
        mortal.settle();
        checkInvariants(mortal);
        expect(mortal.live.length).toBeLessThanOrEqual(n);
        expect(mortal.pass()).toEqual([]);
      }),
      RUNS,
    );
  });

  test('N up and down, members that come and go: never two for one cluster, never more than N at rest', () => {
    const anyEvent = fc.oneof(
      fc.record({ n: fc.integer({ min: 0, max: 6 }) }),
      fc.record({ members: anyMembers }),
      fc.record({ evict: anyCluster }),
      fc.record({ bind: anyCluster }),
      fc.record({ policy: spreadPolicy }),
    );
    fc.assert(
      fc.property(anyMembers, fc.array(anyEvent, { maxLength: 8 }), anyDice, (members, events, dice) => {
        let n = 3;
        let index = 0;
        const hub = new Hub({ members, policy: { placementType: 'PickN' }, numberOfClusters: n });
        for (const event of events) {
          if ('n' in event) {
            n = event.n;
            hub.annotate(annotations.numberOfClusters, String(n));
          } else if ('members' in event) hub.members = event.members;
          else if ('evict' in event) hub.delete(event.evict);
          else if ('bind' in event && hub.live.includes(event.bind)) hub.bind(event.bind);
          else if ('policy' in event) hub.newPolicy(++index, event.policy, n);
          dying(hub, dice);
          checkInvariants(hub);
          hub.settle();
          checkInvariants(hub);
          expect(hub.live.length).toBeLessThanOrEqual(n);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
