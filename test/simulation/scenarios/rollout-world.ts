// A hub and light members with one placement of one ConfigMap: the common part of the worlds of strategies, freezes and
// overrides.
import type { Binding } from '../../../src/api/binding.ts';
import type { Condition } from '../../../src/api/conditions.ts';
import { hubKinds } from '../../../src/api/kinds.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { masterWorkName, memberNamespace, workBaseName } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import { apiVersionOf, type KubeObject, type Labels } from '../../../src/api/object.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { type Work, work } from '../../../src/api/work.ts';
import { clusterFamily } from '../../../src/hub/families.ts';
import { conditionsAreOfTheirObject, noWriteLost } from '../../../src/sim/check.ts';
import type { Readable } from '../../../src/sim/server.ts';
import type { World } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { aConfigMap, configMapAt, configMaps } from './config-maps.ts';
import { ensure, hubActor, hubIdentity, identityOf, join, ledHubActor, placedKinds } from './fleet.ts';
import { lightMemberActor } from './light-member.ts';
import { person } from './person.ts';

export const APP = 'app';
export const CONTENT = 'content';
const HUBS = ['hub-1', 'hub-2'];
const PERIOD_SECONDS = 30;
const SETTINGS = { forceDeleteWaitMs: 120_000 };
const family = clusterFamily;

export type Roll = (sides: number) => number;
export type Deed = (api: Transport, roll: Roll) => Promise<void>;

export interface RolloutWorld {
  readonly members: Readonly<Record<string, Labels>>;
  /** One of the two hubs leads, or both act. */
  readonly isLed: boolean;
  readonly strategy: object;
  /** The initial text of the ConfigMap; a text with `bad` works nowhere. */
  readonly text?: string;
  /** Members that are available stay available. */
  readonly isSteady?: boolean;
  readonly forMs: number;
  readonly pauseMs?: number;
  /** Called once the fleet has joined and the placement exists. */
  deed: Deed;
}

/** Adds hub, members and the user; the caller adds its checkers. */
export function settleFleet(world: World, options: RolloutWorld): void {
  const { members, isLed, isSteady = false, forMs, pauseMs = 4_000 } = options;
  const kinds = placedKinds();
  world.server('hub', apiServer({ kinds: hubKinds, isDurable: world.seed % 10 === 0 }));
  world.actor('user', person({ forMs, pauseMs, deed: userOf(options) }), {
    servers: { hub: { server: 'hub', as: administrator } },
    steady: true,
  });
  for (const hub of HUBS) {
    const actor = isLed ? ledHubActor(hub, SETTINGS, kinds) : hubActor(SETTINGS, kinds);
    world.actor(hub, actor, { servers: { hub: { server: 'hub', as: hubIdentity } } });
  }
  for (const cluster of Object.keys(members)) {
    world.actor(`${cluster}-agent`, lightMemberActor({ cluster, namespace: APP, isSteady }), {
      servers: { hub: { server: 'hub', as: identityOf(cluster) } },
    });
  }
  world.check(noWriteLost());
  world.check(conditionsAreOfTheirObject());
}

export const placed: Target = { resource: family.placement, name: APP };

/** Selects the namespace with everything in it. */
export const placementWith = (strategy: object) => ({
  apiVersion: apiVersionOf(family.placement.group, family.placement.version),
  kind: family.placement.kind,
  metadata: { name: APP },
  spec: { resourceSelectors: [{ group: '', version: 'v1', kind: 'Namespace', name: APP }], strategy },
});

function userOf({ members, strategy, deed, text = 'v0' }: RolloutWorld): Deed {
  let isBegun = false;
  const missing = new Set(Object.keys(members));
  return async (api, roll) => {
    if (isBegun) return deed(api, roll);
    for (const name of missing) {
      await join(api, name, { heartbeatPeriodSeconds: PERIOD_SECONDS, labels: { cluster: name, ...members[name] } });
      missing.delete(name);
    }
    // A cluster that joins later is scheduled later, and no partition waits for missing clusters.
    const { list } = await api.call({ verb: 'list', at: { resource: memberCluster } });
    if (!list?.items.every((each) => isJoined(each as MemberCluster))) return;
    await ensure(
      api,
      { resource: namespaceResource },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: APP } },
    );
    const content = { ...aConfigMap({ namespace: APP, name: CONTENT }, 'content', { text }) };
    await ensure(api, { resource: configMaps, namespace: APP }, content);
    await ensure(api, { resource: family.placement }, placementWith(strategy));
    isBegun = true;
  };
}

export const isJoined = ({ status }: MemberCluster): boolean =>
  conditionOf(status?.conditions as readonly Condition[] | undefined, 'Joined')?.status === 'True';

export const merge = async (api: Transport, at: Target, body: object): Promise<void> => {
  await api.call({ verb: 'patch', at, patch: { type: 'merge', body: body as never }, manager: 'user' });
};

/** New content, sometimes content that cannot work. */
export function release(): (api: Transport, roll: Roll, mayBeBad?: boolean) => Promise<void> {
  let version = 0;
  return (api, roll, mayBeBad = true) => {
    const text = mayBeBad && roll(4) === 0 ? `bad${++version}` : `v${++version}`;
    return merge(api, configMapAt(APP, CONTENT), { data: { text } });
  };
}

// ---- observations

export const isBinding = (object: KubeObject): object is Binding => object.kind === family.binding.kind;

export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

export const bindingsIn = (store: Readable): readonly Binding[] =>
  store.range(`${family.binding.group}/${family.binding.plural}/`).items.map((item) => item.object() as Binding);

export const saysTrue = ({ metadata, status }: Binding | Work, type: string): boolean => {
  const condition = conditionOf(status?.conditions, type);
  return condition?.observedGeneration === metadata.generation && condition?.status === 'True';
};

export const wantedText = (store: Readable): string | undefined => {
  const found = store.get(`/configmaps/${APP}/${CONTENT}`)?.object() as { data?: Record<string, string> } | undefined;
  return found?.data?.['text'];
};

const WORK_NAME = masterWorkName(workBaseName(APP, undefined));

export const workKeyOf = (cluster: string): string =>
  `${work.group}/${work.plural}/${memberNamespace(cluster)}/${WORK_NAME}`;

/** The data of the ConfigMap in the Work of a cluster. */
export function orderedIn(found: Work | undefined): Readonly<Record<string, string>> | undefined {
  const manifests = (found?.spec?.workload?.manifests ?? []) as unknown as readonly KubeObject[];
  const content = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === CONTENT);
  return content && ((content as { data?: Record<string, string> }).data ?? {});
}

export const orderedFor = (store: Readable, cluster: string): Readonly<Record<string, string>> | undefined =>
  orderedIn(store.get(workKeyOf(cluster))?.object() as Work | undefined);

/** Whether all members are bound to the newest content and available. `waits`: clusters that nothing can update. */
export function notEverywhere(store: Readable, members: readonly string[]): string | undefined {
  const text = wantedText(store);
  if (text === undefined) return 'the user never got through';
  const bindings = new Map(bindingsIn(store).map((each) => [each.spec.targetCluster, each]));
  for (const cluster of members) {
    const binding = bindings.get(cluster);
    if (binding === undefined || binding.spec.state !== 'Bound') return `${cluster} is not bound`;
    const has = orderedFor(store, cluster)?.['text'];
    if (has !== text) return `${cluster} gets ${has}, not ${text}`;
    if (!saysTrue(binding, 'Available')) return `${cluster} is not available`;
  }
  return undefined;
}
