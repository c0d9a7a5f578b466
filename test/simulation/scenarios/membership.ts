import { type ClusterProfileStatus, clusterProfile } from '../../../src/api/cluster-profile.ts';
import { joinObjects } from '../../../src/api/join.ts';
import { hubKinds, memberKinds } from '../../../src/api/kinds.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import {
  finalizers,
  labels,
  leases,
  memberNamespace,
  memberRole,
  memberRoleBinding,
  memberServiceAccount,
  memberTokenSecret,
  SYSTEM_NAMESPACE,
} from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { namespaceResource, roleBindingResource, roleResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { work } from '../../../src/api/work.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { LEASES } from '../../../src/runtime/leader.ts';
import {
  type Checker,
  changeChecker,
  conditionsAreOfTheirObject,
  looksAfterLoss,
  noWriteLost,
} from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable, ReadableChange } from '../../../src/sim/server.ts';
import type { World } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { agentActor, ensure, hubActor, identityOf, join, ledHubActor } from './fleet.ts';
import { person } from './person.ts';

const MEMBERS = ['east', 'north', 'west'];
const HUBS = ['hub-1', 'hub-2'];
const FAULT_MS = 240_000;
const PERIOD_SECONDS = 15;
const SILENCE_MS = 60_000;
const SETTINGS = { forceDeleteWaitMs: 120_000 };
/** Longer than every timeout here, so comparing the clocks of two machines would fail. */
const SKEW_MS = 600_000;
/** Longer than the timeout for unreachable members, and then long enough to report again. */
const AWAY_MS = { least: 4 * PERIOD_SECONDS * 1000, max: 80_000 };
const BACK_MS = { least: 5_000, max: 40_000 };

export const membershipScenario = ({ isLed }: { readonly isLed: boolean }): Scenario => ({
  name: isLed ? 'membership' : 'two-leaders',
  faultMs: FAULT_MS,
  // A hub with a dead watch considers members unreachable until it notices.
  rates: { ...usualRates, silenceMs: SILENCE_MS, clockSkewMs: SKEW_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_200_000,
  steps: 60_000,
  ciRuns: 60,
  set(world) {
    const isDurable = world.seed % 3 === 0;
    world.server('hub', apiServer({ kinds: hubKinds, isDurable }));
    /** Unfinished joins: the user completes them. */
    const missing = new Set(MEMBERS);
    const asAdmin = { server: 'hub', as: administrator };
    world.actor('user', person({ forMs: FAULT_MS - 20_000, pauseMs: 12_000, deed: meddle(missing) }), {
      servers: { hub: asAdmin },
      steady: true,
    });
    for (const name of HUBS)
      world.actor(name, isLed ? ledHubActor(name, SETTINGS) : hubActor(SETTINGS), { servers: { hub: asAdmin } });
    for (const name of MEMBERS) {
      world.server(name, apiServer({ kinds: memberKinds }));
      world.actor(`${name}-agent`, agentActor(name), {
        servers: { hub: { server: 'hub', as: identityOf(name) }, member: { server: name, as: administrator } },
      });
    }
    if (world.seed % 3 === 1) flaps(world, MEMBERS[Math.floor(world.seed / 3) % MEMBERS.length] as string);
    world.check(noWriteLost());
    // A hub that leads again may receive lost responses of its previous term.
    world.check(looksAfterLoss([...(isLed ? [] : HUBS), ...MEMBERS.map((name) => `${name}-agent`)]));
    world.check(membersAreKept);
    world.check(rightsAreTheirOwn);
    world.check(conditionsAreOfTheirObject());
    if (isLed) world.check(onlyTheHolderWrites);
    return () => {
      const store = world.store('hub');
      if (store === undefined) return 'the hub is down';
      return MEMBERS.map((name) => notInOrder(store, name, missing.has(name))).find((each) => each !== undefined);
    };
  },
});

// ---- the network

/** While there are faults, a member is disconnected and reconnected again and again. */
function flaps(world: World, name: string): void {
  const random = seededRandom(world.seed).fork('flaps');
  const within = ({ least, max }: typeof AWAY_MS) => Math.round(least + random.next() * (max - least));
  const end = world.now + FAULT_MS;
  const goes = (): void => {
    const awayMs = Math.min(within(AWAY_MS), end - world.now);
    world.partition(`${name}-agent`, 'hub', awayMs);
    const next = world.now + awayMs + within(BACK_MS);
    if (next < end) world.clock.at(next, `${name} goes silent`, goes);
  };
  world.clock.at(world.now + within(BACK_MS), `${name} goes silent`, goes);
}

// ---- the user

type Roll = (sides: number) => number;

function meddle(missing: Set<string>) {
  let works = 0;
  return async (api: Transport, roll: Roll): Promise<void> => {
    for (const name of missing) {
      await joins(api, name);
      missing.delete(name);
    }
    const name = MEMBERS[roll(MEMBERS.length)] as string;
    const namespace = memberNamespace(name);
    const remove = (at: Target) => api.call({ verb: 'delete', at });
    switch (roll(9)) {
      case 0:
      case 1:
        await remove({ resource: memberCluster, name });
        return;
      case 2:
      case 3:
        missing.add(name);
        await joins(api, name);
        missing.delete(name);
        return;
      case 4:
        await remove({ resource: roleBindingResource, namespace, name: memberRoleBinding(name) });
        return;
      case 5:
        await remove({ resource: roleResource, namespace, name: memberRole(name) });
        return;
      case 6: {
        const body = { metadata: { labels: { [labels.isFleetResource]: null } } };
        const at = { resource: namespaceResource, name: namespace };
        await api.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'user' });
        return;
      }
      case 7: {
        const body = { metadata: { labels: { [labels.clusterManager]: null } } };
        const { list } = await api.call({
          verb: 'list',
          at: { resource: clusterProfile, namespace: SYSTEM_NAMESPACE },
        });
        for (const { metadata } of list?.items ?? []) {
          const at = { resource: clusterProfile, namespace: SYSTEM_NAMESPACE, name: metadata.name ?? '' };
          await api.call({ verb: 'patch', at, patch: { type: 'merge', body }, manager: 'user' });
        }
        return;
      }
      default:
        await ensure(api, { resource: work, namespace }, aWork(`work-${++works}`, namespace));
    }
  };
}

/** Like `flotilla join`: not while the member is leaving, because its identity is deleted with it. */
async function joins(api: Transport, name: string): Promise<void> {
  const { list } = await api.call({ verb: 'list', at: { resource: memberCluster }, fields: `metadata.name=${name}` });
  if (list?.items.some((each) => isDeleting(each as KubeObject))) return;
  const { renewalRole, renewalRoleBinding } = joinObjects({ name });
  await ensure(api, { resource: namespaceResource }, inSystem);
  await ensure(api, { resource: roleResource, namespace: SYSTEM_NAMESPACE }, renewalRole);
  await ensure(api, { resource: roleBindingResource, namespace: SYSTEM_NAMESPACE }, renewalRoleBinding);
  await join(api, name, { heartbeatPeriodSeconds: PERIOD_SECONDS });
}

const inSystem: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } };

const aWork = (name: string, namespace: string): KubeObject => ({
  apiVersion: `${work.group}/${work.version}`,
  kind: work.kind,
  metadata: { name, namespace, finalizers: [finalizers.workCleanup] },
  spec: { workload: { manifests: [] } },
});

// ---- invariants

const clusterIn = (store: Readable, name: string): MemberCluster | undefined =>
  store.get(`${memberCluster.group}/${memberCluster.plural}//${name}`)?.object() as MemberCluster | undefined;

const namespaceIn = (store: Readable, name: string): KubeObject | undefined =>
  store.get(`/namespaces//${memberNamespace(name)}`)?.object();

const profileIn = (store: Readable, name: string): KubeObject | undefined =>
  store.get(`${clusterProfile.group}/${clusterProfile.plural}/${SYSTEM_NAMESPACE}/${name}`)?.object();

/** The member that a namespace on the hub belongs to. */
const memberAt = (place: string): string | undefined => MEMBERS.find((name) => memberNamespace(name) === place);

const isDeleting = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined;

const membersAreKept: Checker = changeChecker('members are kept', (change, server, sight) => {
  const store = sight.store(server);
  if (server !== 'hub' || store === undefined) return undefined;
  const loss = lossIn(change);
  const name = memberAt(loss?.place ?? '');
  if (loss === undefined || name === undefined) return undefined;
  const cluster = clusterIn(store, name);
  if (cluster === undefined || isDeleting(cluster)) return undefined;
  // Objects of a former member with the same name may be deleted with it.
  const owner = loss.owners.find((each) => each.kind === memberCluster.kind);
  if (owner !== undefined && owner.uid !== cluster.metadata.uid) return undefined;
  if (loss.isInside && isDeleting(namespaceIn(store, name))) return undefined;
  return `${loss.what} although ${name} is to stay`;
});

interface Loss {
  readonly what: string;
  readonly place: string;
  /** Inside the namespace, not the namespace itself. */
  readonly isInside: boolean;
  readonly owners: NonNullable<KubeObject['metadata']['ownerReferences']>;
}

/** A change that removes something of a member. */
function lossIn({ stored, previous }: ReadableChange): Loss | undefined {
  const now = stored.object();
  const before = previous?.object();
  const { name = '', namespace = '', ownerReferences: owners = [] } = now.metadata;
  if (now.kind === 'Namespace' && isDeleting(now) && !isDeleting(before)) {
    return { what: `namespace ${name} was deleted`, place: name, isInside: false, owners };
  }
  const [wasOwner, isOwner] = [ownerOf(before), ownerOf(now)];
  if (now.kind === 'Namespace' && wasOwner !== undefined && wasOwner !== isOwner) {
    // The new owner must not be a former member.
    return {
      what: `namespace ${name} was taken away`,
      place: name,
      isInside: false,
      owners: before?.metadata.ownerReferences ?? [],
    };
  }
  if (now.kind === work.kind && (before?.metadata.finalizers?.length ?? 0) > (now.metadata.finalizers?.length ?? 0)) {
    return { what: `Work ${name} was let go`, place: namespace, isInside: true, owners };
  }
  if (now.kind === 'InternalMemberCluster' && stateOf(now) === 'Leave' && stateOf(before) !== 'Leave') {
    return { what: `${name} was asked to leave`, place: namespace, isInside: true, owners };
  }
  return undefined;
}

const ownerOf = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.ownerReferences?.find(({ kind }) => kind === memberCluster.kind)?.uid;

const stateOf = (internal: KubeObject | undefined): string | undefined =>
  (internal?.spec as { readonly state?: string } | undefined)?.state;

/** A RoleBinding in the namespace of a member, or for its identity, has only that member's identity as subject. */
const rightsAreTheirOwn: Checker = changeChecker('no member has the rights of another', ({ stored }, server) => {
  const object = stored.object();
  if (server !== 'hub' || object.kind !== 'RoleBinding') return undefined;
  const { namespace = '', name: binding = '', labels: marks = {} } = object.metadata;
  const member = memberAt(namespace) ?? marks[labels.joinedMember];
  if (member === undefined) return undefined;
  const { subjects = [] } = object as {
    readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
  };
  const other = subjects.find(({ kind, name }) => kind !== 'ServiceAccount' || name !== memberServiceAccount(member));
  return other && `RoleBinding ${namespace}/${binding} of ${member} gives rights to ${other.kind} ${other.name}`;
});

/** The objects of `flotilla join`: while any of them exists, a token may be accepted or issued. */
const identityIn = (store: Readable, name: string): string | undefined => {
  const account = memberServiceAccount(name);
  const parts = [
    ['/secrets', memberTokenSecret(name)],
    ['/serviceaccounts', account],
    [`${roleResource.group}/roles`, account],
    [`${roleResource.group}/rolebindings`, account],
  ] as const;
  const found = parts.find(([plural, part]) => store.get(`${plural}/${SYSTEM_NAMESPACE}/${part}`) !== undefined);
  return found && `${found[0].split('/').at(-1)} ${found[1]}`;
};

/** Every replica may write Leases and Events. */
const onlyTheHolderWrites: Checker = {
  name: 'only the holder of the lease writes',
  hear(happening, sight) {
    if (happening.what !== 'sent' || !HUBS.includes(happening.who)) return undefined;
    const { verb, at } = happening.request;
    if (verb === 'get' || verb === 'list' || at.resource.kind === 'Event' || at.resource.kind === 'Lease')
      return undefined;
    const store = sight.store('hub');
    if (store === undefined) return undefined;
    const lease = store.get(`${LEASES.group}/leases/${SYSTEM_NAMESPACE}/${leases.hub}`)?.object();
    const { holderIdentity = 'nobody' } = (lease?.spec ?? {}) as { readonly holderIdentity?: string };
    if (holderIdentity.startsWith(`${happening.who}/`)) return undefined;
    return `${happening.who} sends ${verb} ${at.resource.kind} while ${holderIdentity} holds the lease`;
  },
};

function notInOrder(store: Readable, name: string, isJoining: boolean): string | undefined {
  const cluster = clusterIn(store, name);
  const namespace = namespaceIn(store, name);
  const profile = profileIn(store, name);
  if (cluster === undefined) {
    if (profile !== undefined) return `${name} has left, but its ClusterProfile is still there`;
    const identity = isJoining ? undefined : identityIn(store, name);
    if (identity !== undefined) return `${name} has left, but ${identity} is still there`;
    return namespace && `${name} has left, but its namespace is still there`;
  }
  if (isDeleting(cluster)) return `${name} is still leaving`;
  if (namespace === undefined || isDeleting(namespace)) return `${name} has no namespace`;
  for (const type of ['ReadyToJoin', 'Joined', 'Healthy']) {
    const found = conditionOf(cluster.status?.conditions, type);
    if (found?.status !== 'True') return `${name} is not ${type}: ${found?.reason ?? 'nothing is known'}`;
  }
  const health = conditionOf((profile?.status as ClusterProfileStatus | undefined)?.conditions, 'ControlPlaneHealthy');
  return health?.status === 'True' ? undefined : `the ClusterProfile of ${name} is not healthy: ${health?.reason}`;
}
