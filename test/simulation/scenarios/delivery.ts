// A hub and members with a Deployment that a user changes again and again, sometimes to content that cannot work, under
// all faults: hub, agents and API servers crash, calls are lost, watches are unreliable, members leave and join again,
// the placement is deleted and recreated, and foreign clients edit objects.
//
// `delivery`: two hub processes, one of which is the leader. `delivery-two-leaders`: both act, each with its own cache.
// `delivery-namespaced`: like the first, with a namespaced placement that brings the content to members with a
// namespace of the same name.
// In half of the worlds the placement is on all three members; in the other half on two of four, and the user keeps
// changing which ones are allowed. The invariants are in delivery-checks.ts.
import { hubKinds, memberKinds } from '../../../src/api/kinds.ts';
import { memberCluster } from '../../../src/api/member-cluster.ts';
import { labels, memberNamespace } from '../../../src/api/names.ts';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { work } from '../../../src/api/work.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { conditionsAreOfTheirObject, looksAfterLoss, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { administrator, apiServer } from './api-server.ts';
import { configMaps } from './config-maps.ts';
import {
  bindingsStay,
  budgetIsKept,
  EDITED,
  EXTRA,
  FOREIGN,
  foreignThingsStay,
  greenMeansDone,
  healthIsOfTheRevision,
  homeOf,
  MAX_SURGE,
  MAX_UNAVAILABLE,
  nothingGoesBack,
  SHOP,
  type Story,
  surgeIsKept,
  TARGET,
  unsettled,
  workNameOf,
} from './delivery-checks.ts';
import { agentActor, ensure, hubActor, identityOf, join, ledHubActor, placedKinds } from './fleet.ts';
import { leaversKeepTheirs } from './leaving-checks.ts';
import { person } from './person.ts';
import { deployments, workloadsActor } from './workloads.ts';

const HUBS = ['hub-1', 'hub-2'];
const FAULT_MS = 120_000;
const SILENCE_MS = 60_000;
const PERIOD_SECONDS = 30;
/** In some worlds each cluster counts for many, to test what is done less often with more clusters. */
const settingsIn = (seed: number) => ({
  forceDeleteWaitMs: 120_000,
  placements: { weight: seed % 3 === 0 ? 250 : 1 },
});

export interface DeliveryOptions {
  readonly name: string;
  /** One of the two hubs leads, or both act. */
  readonly isLed: boolean;
  readonly family: PlacementFamily;
  readonly ciRuns: number;
}

export const deliveryScenario = ({ name, isLed, family, ciRuns }: DeliveryOptions): Scenario => ({
  name,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_800_000,
  steps: 200_000,
  ciRuns,
  set(world) {
    const kinds = placedKinds();
    const isMoving = world.seed % 2 === 0;
    const settings = settingsIn(world.seed);
    const story: Story = {
      family,
      members: isMoving ? ['c1', 'c2', 'c3', 'c4'] : ['c1', 'c2', 'c3'],
      isMoving,
      leaders: isLed ? 1 : HUBS.length,
      left: new Set(),
    };
    world.server('hub', apiServer({ kinds: hubKinds, isDurable: world.seed % 5 === 0 }));
    const asAdmin = { server: 'hub', as: administrator };
    world.actor('user', person({ forMs: FAULT_MS - 10_000, pauseMs: 9_000, deed: release(story) }), {
      servers: { hub: asAdmin },
      steady: true,
    });
    for (const hub of HUBS) {
      const actor = isLed ? ledHubActor(hub, settings, kinds) : hubActor(settings, kinds);
      world.actor(hub, actor, { servers: { hub: asAdmin } });
    }
    for (const member of story.members) {
      world.server(member, apiServer({ kinds: memberKinds }));
      const own = { server: member, as: administrator };
      world.actor(`${member}-agent`, agentActor(member, kinds), {
        servers: { hub: { server: 'hub', as: identityOf(member) }, member: own },
      });
      world.actor(`${member}-workloads`, workloadsActor, { servers: { member: own }, steady: true });
      world.actor(`${member}-owner`, person({ forMs: 20_000, pauseMs: 5_000, deed: ownThings(family) }), {
        servers: { hub: own },
        steady: true,
      });
    }
    world.check(noWriteLost());
    world.check(conditionsAreOfTheirObject());
    world.check(looksAfterLoss([...(isLed ? [] : HUBS), ...story.members.map((name) => `${name}-agent`)], 'creates'));
    world.check(budgetIsKept(story));
    if (isMoving) world.check(surgeIsKept(story));
    world.check(healthIsOfTheRevision(story));
    world.check(foreignThingsStay(story));
    world.check(greenMeansDone(story));
    world.check(nothingGoesBack(story));
    world.check(bindingsStay(story));
    world.check(leaversKeepTheirs(story, HUBS));
    return () => unsettled(world, story);
  },
});

// ---- the user

type Roll = (sides: number) => number;

const shop = (what: KubeObject): KubeObject => ({ ...what, metadata: { ...what.metadata, namespace: SHOP } });

const deployment = (image: string): KubeObject =>
  shop({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  });

/** The whole shop, or all objects in it. */
const selectorsOf = ({ placement }: PlacementFamily): readonly object[] =>
  placement.namespaced
    ? [
        { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' },
        { group: '', version: 'v1', kind: 'ConfigMap' },
      ]
    : [{ group: '', version: 'v1', kind: 'Namespace', name: SHOP }];

const placementOf = (family: PlacementFamily, policy: object | undefined): KubeObject => ({
  apiVersion: apiVersionOf(family.placement.group, family.placement.version),
  kind: family.placement.kind,
  metadata: { name: SHOP, ...homeOf(family) },
  spec: {
    ...(policy === undefined ? {} : { policy }),
    resourceSelectors: selectorsOf(family),
    // Short, so that snapshots are deleted all the time, including ones that may still be in use.
    ...(family.placement.namespaced ? { revisionHistoryLimit: 3 } : {}),
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: MAX_UNAVAILABLE, maxSurge: MAX_SURGE } },
  },
});

const twoOf = (names: readonly string[]): object => {
  const matchExpressions = [{ key: 'cluster', operator: 'In', values: names }];
  const required = { clusterSelectorTerms: [{ labelSelector: { matchExpressions } }] };
  return {
    placementType: 'PickN',
    numberOfClusters: TARGET,
    affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  };
};

/**
 * Joins the members, places the shop, then releases one image after the other, changes the policy, deletes objects, and
 * edits others.
 */
function release({ family, members, isMoving, left }: Story) {
  const placements: Target = { resource: family.placement, ...homeOf(family) };
  const placed: Target = { ...placements, name: SHOP };
  let version = 0;
  let policy = isMoving ? twoOf(members) : undefined;
  const missing = new Set(members);
  let isBegun = false;
  let hasExtra = false;
  const begin = async (api: Transport) => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } };
    await ensure(api, { resource: namespaceResource }, namespace);
    await ensure(api, { resource: deployments, namespace: SHOP }, deployment('web:0'));
    await ensure(api, placements, placementOf(family, policy));
    isBegun = true;
  };
  return async (api: Transport, roll: Roll): Promise<void> => {
    for (const name of isBegun && roll(3) > 0 ? [] : missing) {
      await join(api, name, { heartbeatPeriodSeconds: PERIOD_SECONDS, labels: { cluster: name } });
      missing.delete(name);
    }
    if (!isBegun) return begin(api);
    const of = members[roll(members.length)] as string;
    const workAt: Target = { resource: work, namespace: memberNamespace(of), name: workNameOf(family) };
    const patch = async (at: Target, type: 'merge' | 'strategic' | 'json', body: object) => {
      await api.call({ verb: 'patch', at, patch: { type, body: body as never }, manager: 'user' });
    };
    switch (roll(isMoving ? 15 : 12)) {
      case 0: {
        const first = family.placement.namespaced ? 0 : 1;
        const path = `/spec/workload/manifests/${first}/spec/template/spec/containers/0/image`;
        return patch(workAt, 'json', [{ op: 'replace', path, value: EDITED }]);
      }
      case 1:
        return patch(workAt, 'merge', { metadata: { labels: { [labels.parentBinding]: null } } });
      case 2:
        if (roll(2) === 0) return;
        missing.add(of);
        left.add(of);
        await api.call({ verb: 'delete', at: { resource: memberCluster, name: of } });
        return;
      case 3:
        if (roll(2) === 0) await ensure(api, placements, placementOf(family, policy));
        else await api.call({ verb: 'delete', at: placed });
        return;
      case 4:
      case 5: {
        const at = { resource: configMaps, namespace: SHOP };
        const object = shop({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: EXTRA } });
        if (hasExtra) await api.call({ verb: 'delete', at: { ...at, name: EXTRA } });
        else await ensure(api, at, object);
        hasExtra = !hasExtra;
        return;
      }
      case 12:
      case 13:
      case 14: {
        const [first, second] = [roll(members.length), roll(members.length)];
        policy = twoOf(members.filter((_, at) => at !== first && at !== second));
        await ensure(api, placements, placementOf(family, policy));
        return patch(placed, 'merge', { spec: { policy } });
      }
      default: {
        const image = roll(4) === 0 ? `web:bad-${++version}` : `web:${++version}`;
        const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
        return patch({ resource: deployments, namespace: SHOP, name: 'web' }, 'strategic', body);
      }
    }
  };
}

/**
 * The owner of a member creates their own objects, some of them in a placed namespace, which may already have been
 * theirs. Objects of a namespaced placement reach only members with that namespace.
 */
function ownThings({ placement }: PlacementFamily) {
  return async (member: Transport, roll: Roll): Promise<void> => {
    const namespace = roll(2) === 0 ? 'default' : SHOP;
    if (placement.namespaced || (namespace === SHOP && roll(2) === 0)) {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } };
      await ensure(member, { resource: namespaceResource }, object);
    }
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: FOREIGN, namespace },
      data: { mine: 'yes' },
    };
    await ensure(member, { resource: configMaps, namespace }, object);
  };
}
