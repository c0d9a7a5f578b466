// Members have their own ClusterRoles: some belong to the cluster itself, some existed before a placement used the same
// names. The placement selects all ClusterRoles, which are added and removed; it is deleted and recreated, and a
// foreign client adds a role of the cluster to a Work, while hub, agents and servers crash. In a third of the worlds
// the placement keeps taken-over objects, in another third it takes nothing over.
import { isClusterOwned } from '../../../src/api/cluster-owned.ts';
import { annotations, masterWorkName, memberNamespace, workBaseName } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { placement } from '../../../src/api/placement.ts';
import { RBAC_GROUP } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { work } from '../../../src/api/work.ts';
import { type Checker, changeChecker, type Sight } from '../../../src/sim/check.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import { ensure, join, placedKinds } from './fleet.ts';
import { isMadeByOwner, isPlaced, MADE_BY_OWNER, MEMBERS, twoMembers } from './two-members.ts';

/** Owners of members create the first two, too. */
const NAMES = ['team-a', 'team-b', 'team-c', 'team-d', 'team-e'];
const ROLES = 'roles';
const HUB_LABEL = 'example.com/from-hub';

type World = 'keeps' | 'takes nothing over' | 'takes over';
const worldOf = (seed: number): World => (['keeps', 'takes nothing over', 'takes over'] as const)[seed % 3] ?? 'keeps';

const clusterRoles = {
  group: RBAC_GROUP,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
} as const;

export const keepingScenario: Scenario = twoMembers({ name: 'keeping', steps: 100_000, ciRuns: 200 }, (world) => {
  const of = worldOf(world.seed);
  return {
    kinds: placedKinds(['ClusterRole']),
    user: release(of),
    owner: { forMs: 40_000, deed: () => ownRoles },
    checks: [clustersKeepTheirOwn(), onlyOwnedIsDeleted(), ...(of === 'takes over' ? [] : [ownersKeepTheirs()])],
    unsettled: () => unsettled(world, of),
  };
});

// ---- users and owners

type Roll = (sides: number) => number;

const role = (name: string, labels: object, notes: object, verb: string): KubeObject =>
  ({
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels, annotations: notes },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }],
  }) as unknown as KubeObject;

const placementOf = (of: World): KubeObject =>
  ({
    apiVersion: `${placement.cluster.group}/${placement.cluster.version}`,
    kind: placement.cluster.kind,
    metadata: { name: ROLES, ...(of === 'keeps' ? { annotations: { [annotations.keepTakenOver]: 'true' } } : {}) },
    spec: {
      resourceSelectors: [
        {
          group: RBAC_GROUP,
          version: 'v1',
          kind: 'ClusterRole',
          labelSelector: { matchExpressions: [{ key: 'example.com/not-placed', operator: 'DoesNotExist' }] },
        },
      ],
      strategy: {
        type: 'RollingUpdate',
        ...(of === 'takes nothing over' ? { applyStrategy: { whenToTakeOver: 'Never' } } : {}),
      },
    },
  }) as unknown as KubeObject;

function release(of: World) {
  let isJoined = false;
  const placements: Target = { resource: placement.cluster };
  return async (api: Transport, roll: Roll): Promise<void> => {
    if (!isJoined) {
      for (const name of MEMBERS) await join(api, name, { heartbeatPeriodSeconds: 30 });
      isJoined = true;
    }
    const name = NAMES[roll(NAMES.length)] as string;
    const at: Target = { resource: clusterRoles, name };
    switch (roll(8)) {
      case 0:
        await api.call({ verb: 'delete', at: { ...placements, name: ROLES } });
        return;
      case 1:
        await api.call({ verb: 'delete', at });
        return;
      case 2: {
        const cluster = MEMBERS[roll(MEMBERS.length)] as string;
        const name = masterWorkName(workBaseName(ROLES, undefined));
        const value = role(roll(2) === 0 ? 'cluster-admin' : 'system:node', {}, {}, 'get');
        const body = [{ op: 'add', path: '/spec/workload/manifests/-', value }];
        const target = { resource: work, namespace: memberNamespace(cluster), name };
        await api.call({ verb: 'patch', at: target, patch: { type: 'json', body: body as never }, manager: 'user' });
        return;
      }
      case 3:
      case 4:
        await ensure(api, placements, placementOf(of));
        return;
      default:
        await ensure(api, { resource: clusterRoles }, role(name, { [HUB_LABEL]: 'true' }, {}, 'get'));
    }
  };
}

/** They create roles and never delete one. */
async function ownRoles(member: Transport, roll: Roll): Promise<void> {
  const name = NAMES[roll(2)] as string;
  await ensure(member, { resource: clusterRoles }, role(name, {}, { [MADE_BY_OWNER]: 'true' }, 'list'));
}

// ---- invariants

/** A checker of the ClusterRoles of members. */
const ofRoles = (
  name: string,
  check: (now: KubeObject, was: KubeObject | undefined, deleted: boolean) => string | undefined,
) =>
  changeChecker(name, ({ stored, previous, deleted }, server) => {
    const now = stored.object();
    if (!MEMBERS.includes(server) || now.kind !== clusterRoles.kind) return undefined;
    const objection = check(now, previous?.object(), deleted);
    return objection === undefined ? undefined : `ClusterRole ${now.metadata.name} on ${server} ${objection}`;
  });

const clustersKeepTheirOwn = (): Checker =>
  ofRoles('clusters keep their own', (now, _was, deleted) => {
    if (!isClusterOwned(clusterRoles, now.metadata)) return undefined;
    if (deleted) return 'belongs to the cluster and was deleted';
    return isPlaced(now) ? 'belongs to the cluster and was taken over' : undefined;
  });

/** By us or by garbage collection: objects that an AppliedWork never owned stay. */
const onlyOwnedIsDeleted = (): Checker =>
  ofRoles('only placed objects are deleted', (_now, was, deleted) =>
    deleted && was !== undefined && !isPlaced(was) ? 'was deleted and was not taken over' : undefined,
  );

const ownersKeepTheirs = (): Checker =>
  ofRoles('owners keep theirs', (now, was, deleted) =>
    deleted && isMadeByOwner(was ?? now) ? 'was made by its owner and was deleted' : undefined,
  );

// ---- end state

const rolesIn = (sight: Sight, server: string): ReadonlyMap<string, KubeObject> =>
  new Map(
    (sight.store(server)?.range(`${RBAC_GROUP}/clusterroles/`).items ?? [])
      .map((item) => item.object())
      .filter(({ metadata }) => NAMES.includes(metadata.name ?? ''))
      .map((object) => [object.metadata.name ?? '', object]),
  );

function unsettled(sight: Sight, of: World): string | undefined {
  if (['hub', ...MEMBERS].some((server) => sight.store(server) === undefined)) return 'a server is down';
  const isWanted =
    sight.store('hub')?.get(`${placement.cluster.group}/${placement.cluster.plural}//${ROLES}`) !== undefined;
  const wanted = isWanted ? rolesIn(sight, 'hub') : new Map<string, KubeObject>();
  const isBlocked = of === 'takes nothing over' && MEMBERS.some((member) => isInTheWay(rolesIn(sight, member), wanted));
  for (const member of MEMBERS) {
    const found = rolesIn(sight, member);
    for (const name of NAMES) {
      const live = found.get(name);
      if (isBlocked && (live === undefined || !isMadeByOwner(live))) continue;
      const problem = notAsWanted(live, wanted.has(name), of);
      if (problem !== undefined) return `ClusterRole ${name} on ${member} ${problem}`;
    }
  }
  return undefined;
}

/**
 * The owner's role that is not taken over fails on its member, and because of the budget the other member keeps its
 * previous content.
 */
const isInTheWay = (found: ReadonlyMap<string, KubeObject>, wanted: ReadonlyMap<string, KubeObject>): boolean =>
  [...found].some(([name, live]) => wanted.has(name) && isMadeByOwner(live));

function notAsWanted(live: KubeObject | undefined, isWanted: boolean, of: World): string | undefined {
  if (!isWanted) return live !== undefined && isPlaced(live) ? 'is still placed' : undefined;
  if (live === undefined) return 'is missing';
  if (of === 'takes nothing over' && isMadeByOwner(live)) return isPlaced(live) ? 'was taken over' : undefined;
  return isPlaced(live) ? undefined : 'is not placed';
}
