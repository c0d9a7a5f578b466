// Members have their own ConfigMaps with the names that a placement uses. Their owners keep editing and deleting them,
// and a controller of the member adds itself to the owners of some, while hub, agents and servers crash. The seed
// determines the placement: it takes nothing over, takes over only equal objects, keeps drift, only reports, applies
// server-side, allows co-ownership, or is deleted again and again and abandons its objects.
import { annotations } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { placement } from '../../../src/api/placement.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import type { Json } from '../../../src/base/json.ts';
import { type Checker, changeChecker, type Sight } from '../../../src/sim/check.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { configMapAt, configMaps, dataOf, keyOfConfigMap } from './config-maps.ts';
import { ensure, join, placedKinds } from './fleet.ts';
import { agentOf, FAULT_MS, isMadeByOwner, isPlaced, MADE_BY_OWNER, MEMBERS, twoMembers } from './two-members.ts';

const SHOP = 'shop';
const NAMES = ['a', 'b', 'c'];
const TAKEN = 'taken';

/** The owner of other ConfigMaps, for the controller of a member; nothing deletes it. */
const CONTROLLER = 'controller';

const WORLDS = [
  'Never',
  'IfNoDiff',
  'IfNotDrifted',
  'ReportDiff',
  'Abandon',
  'ServerSideApply',
  'CoOwnership',
] as const;
type World = (typeof WORLDS)[number];
const worldOf = (seed: number): World => WORLDS[seed % WORLDS.length] as World;

const strategyOf = (of: World): object => {
  switch (of) {
    case 'Never':
    case 'IfNoDiff':
      return { applyStrategy: { whenToTakeOver: of } };
    case 'IfNotDrifted':
      return { applyStrategy: { whenToApply: of } };
    case 'Abandon':
      return { deleteStrategy: { propagationPolicy: of } };
    case 'ReportDiff':
      return { applyStrategy: { type: of } };
    case 'ServerSideApply':
      // Without force the fields of owners stay.
      return { applyStrategy: { type: of } };
    case 'CoOwnership':
      return { applyStrategy: { allowCoOwnership: true } };
  }
};

export const driftingScenario: Scenario = twoMembers({ name: 'drifting', steps: 100_000, ciRuns: 210 }, (world) => {
  const of = worldOf(world.seed);
  return {
    kinds: placedKinds(),
    user: release(of),
    owner: { forMs: FAULT_MS - 20_000, deed: () => ownThings(of) },
    checks: [
      foreignValuesStay(of),
      ownersStay(of),
      ...(of === 'ReportDiff' ? [reportsWriteNothing()] : []),
      ...(of === 'Abandon' ? [abandonedStay()] : []),
    ],
    unsettled: () => unsettled(world, of),
  };
});

// ---- users and owners

type Roll = (sides: number) => number;

const configMap = (name: string, value: string, notes: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: SHOP, annotations: notes },
    data: { value },
  }) as unknown as KubeObject;

const setValue = (api: Transport, name: string, value: string, manager: string) =>
  api.call({
    verb: 'patch',
    at: configMapAt(SHOP, name),
    patch: { type: 'merge', body: { data: { value } } },
    manager,
  });

const placementOf = (of: World): KubeObject =>
  ({
    apiVersion: `${placement.namespaced.group}/${placement.namespaced.version}`,
    kind: placement.namespaced.kind,
    metadata: { name: TAKEN, namespace: SHOP },
    spec: {
      resourceSelectors: NAMES.map((name) => ({ group: '', version: 'v1', kind: 'ConfigMap', name })),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' }, ...strategyOf(of) },
    },
  }) as unknown as KubeObject;

const aNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP } } as const;

function release(of: World) {
  let isJoined = false;
  let number = 0;
  const placements: Target = { resource: placement.namespaced, namespace: SHOP };
  return async (api: Transport, roll: Roll): Promise<void> => {
    if (!isJoined) {
      for (const name of MEMBERS) await join(api, name, { heartbeatPeriodSeconds: 30 });
      await ensure(api, { resource: namespaceResource }, aNamespace);
      for (const name of NAMES) await ensure(api, { resource: configMaps, namespace: SHOP }, configMap(name, 'hub-0'));
      isJoined = true;
    }
    const name = NAMES[roll(NAMES.length)] as string;
    switch (roll(7)) {
      case 0:
        await api.call({ verb: 'delete', at: { ...placements, name: TAKEN } });
        return;
      case 1:
      case 2:
      case 3:
        await ensure(api, placements, placementOf(of));
        return;
      default:
        await setValue(api, name, `hub-${++number % 4}`, 'user');
    }
  };
}

/**
 * They create ConfigMaps, some equal to those of the hub, change or delete existing ones, and let the controller own
 * some.
 */
function ownThings(of: World) {
  let number = 0;
  return async (member: Transport, roll: Roll): Promise<void> => {
    await ensure(member, { resource: namespaceResource }, aNamespace);
    const name = NAMES[roll(NAMES.length)] as string;
    const value = `own-${++number}`;
    switch (roll(6)) {
      case 0:
        return ownAsController(member, name);
      case 1:
        // In the Abandon world nothing deletes the objects.
        return of === 'Abandon' ? undefined : deleteUnshared(member, name);
      case 2:
      case 3: {
        const made = roll(3) === 0 ? `hub-${roll(4)}` : value;
        return ensure(
          member,
          { resource: configMaps, namespace: SHOP },
          configMap(name, made, { [MADE_BY_OWNER]: 'true' }),
        );
      }
      default:
        if (of !== 'Abandon') await setValue(member, name, value, 'owner');
    }
  };
}

const read = async (member: Transport, name: string): Promise<KubeObject> =>
  (await member.call({ verb: 'get', at: configMapAt(SHOP, name) })).object as KubeObject;

async function ownAsController(member: Transport, name: string): Promise<void> {
  await ensure(member, { resource: configMaps, namespace: SHOP }, configMap(CONTROLLER, 'controller'));
  const { uid = '' } = (await read(member, CONTROLLER)).metadata;
  const { resourceVersion, ownerReferences = [] } = (await read(member, name)).metadata;
  if (ownerReferences.some((each) => each.uid === uid)) return;
  const owners = [...ownerReferences, { apiVersion: 'v1', kind: 'ConfigMap', name: CONTROLLER, uid }];
  const body = { metadata: { resourceVersion, ownerReferences: owners } } as unknown as Json;
  await member.call({
    verb: 'patch',
    at: configMapAt(SHOP, name),
    patch: { type: 'merge', body },
    manager: 'controller',
  });
}

/** Owners never delete a shared object, so if one is deleted, we did it. */
async function deleteUnshared(member: Transport, name: string): Promise<void> {
  const live = await read(member, name);
  const { uid = '', resourceVersion = '' } = live.metadata;
  if (!isShared(live))
    await member.call({ verb: 'delete', at: configMapAt(SHOP, name), uid, revision: resourceVersion });
}

// ---- invariants

const hashOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[annotations.specHash];
const textOf = (object: KubeObject): string => dataOf(object)['value'] ?? '';

/** The controller owns it, alone or with us. */
const isShared = ({ metadata }: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'ConfigMap' && name === CONTROLLER);

/** A checker of the ConfigMaps in the shop of members. */
const ofShop = (
  name: string,
  check: (now: KubeObject, was: KubeObject | undefined, deleted: boolean) => string | undefined,
): Checker =>
  changeChecker(name, ({ key, stored, previous, deleted }, server) => {
    if (!MEMBERS.includes(server) || !key.startsWith(keyOfConfigMap(SHOP, ''))) return undefined;
    const now = stored.object();
    if (!NAMES.includes(now.metadata.name ?? '')) return undefined;
    const objection = check(now, previous?.object(), deleted);
    return objection === undefined ? undefined : `ConfigMap ${now.metadata.name} on ${server} ${objection}`;
  });

/** The placement must not take over or overwrite a value of the owner against its strategy. */
const foreignValuesStay = (of: World): Checker =>
  ofShop('foreign values stay', (now, was, deleted) => {
    if (was === undefined || deleted) return undefined;
    const isTaken = !isPlaced(was) && isPlaced(now);
    if (of === 'Never' && isTaken && isMadeByOwner(was)) return 'was taken over';
    if (of === 'IfNoDiff' && isTaken && textOf(was) !== textOf(now)) return 'was taken over although it differed';
    const isOverwritten = textOf(was).startsWith('own-') && textOf(now).startsWith('hub-');
    // An object of an agent that died before its first apply has no record of its writers.
    const isRecorded = !isPlaced(was) || was.metadata.managedFields !== undefined;
    if (of === 'ServerSideApply' && isOverwritten && isRecorded) return 'was overwritten without force';
    if (of === 'IfNotDrifted' && isOverwritten && isPlaced(was) && hashOf(was) === hashOf(now))
      return 'had drifted and was put back';
    return undefined;
  });

/** The controller stays an owner, and without co-ownership its objects are only released. */
const ownersStay = (of: World): Checker =>
  ofShop('owners stay', (now, was, deleted) => {
    if (was === undefined || !isShared(was)) return undefined;
    if (deleted) return 'was deleted although the controller owns it';
    if (!isShared(now)) return 'lost the controller as its owner';
    if (of === 'CoOwnership') return undefined;
    if (!isPlaced(was) && isPlaced(now)) return 'was taken over although the controller owns it';
    return textOf(was).startsWith('own-') && textOf(now).startsWith('hub-')
      ? 'was overwritten although the controller owns it'
      : undefined;
  });

/** Not even writes that the server would reject. */
const reportsWriteNothing = (): Checker => ({
  name: 'reports write nothing',
  hear(happening) {
    if (happening.what !== 'sent' || !MEMBERS.some((member) => happening.who === agentOf(member))) return undefined;
    const { who, server, request } = happening;
    if (!MEMBERS.includes(server) || request.verb === 'get' || request.verb === 'list') return undefined;
    return `${who} sent a ${request.verb} of ${request.at.resource.kind} ${request.at.name ?? ''} to ${server}`;
  },
});

/** Owners delete none here, and the placement keeps all its names and clusters. */
const abandonedStay = (): Checker =>
  ofShop('what is abandoned stays', (_now, _was, deleted) => (deleted ? 'was deleted' : undefined));

// ---- end state

function unsettled(sight: Sight, of: World): string | undefined {
  const hub = sight.store('hub');
  if (hub === undefined || MEMBERS.some((member) => sight.store(member) === undefined)) return 'a server is down';
  const { group, plural } = placement.namespaced;
  const isWanted = hub.get(`${group}/${plural}/${SHOP}/${TAKEN}`) !== undefined;
  for (const member of MEMBERS) {
    for (const name of NAMES) {
      const live = sight.store(member)?.get(keyOfConfigMap(SHOP, name))?.object();
      const wanted = hub.get(keyOfConfigMap(SHOP, name))?.object();
      const problem = wanted && notAsWanted({ live, wanted, isWanted, of });
      if (problem !== undefined) return `ConfigMap ${name} on ${member} ${problem}`;
    }
  }
  return undefined;
}

interface End {
  readonly live: KubeObject | undefined;
  readonly wanted: KubeObject;
  readonly isWanted: boolean;
  readonly of: World;
}

function notAsWanted({ live, wanted, isWanted, of }: End): string | undefined {
  if (!isWanted || of === 'ReportDiff') {
    if (live === undefined) return undefined;
    if (isPlaced(live)) return 'is still placed';
    return of === 'Abandon' && hashOf(live) !== undefined ? 'was abandoned with our marks' : undefined;
  }
  if (live === undefined) return 'is missing';
  // Without co-ownership an object stays as it was when the controller became an owner.
  if (isShared(live) && of !== 'CoOwnership') return undefined;
  if (of === 'Never' && isMadeByOwner(live)) return isPlaced(live) ? 'was taken over' : undefined;
  if (of === 'IfNoDiff' && !isPlaced(live)) return textOf(live) === textOf(wanted) ? 'was not taken over' : undefined;
  if (of === 'IfNotDrifted' && textOf(live) !== textOf(wanted)) return isPlaced(live) ? undefined : 'is not placed';
  // Without force a field of the owner blocks the apply.
  if (of === 'ServerSideApply') return undefined;
  return textOf(live) === textOf(wanted) ? undefined : `has ${textOf(live)}, not ${textOf(wanted)}`;
}
