// What every scenario with a hub and members needs: identities, hub and agents as actors, and joining members.
import type { LiveCatalogue } from '../../../src/api/catalogue.ts';
import { type JoinOptions, joinObjects } from '../../../src/api/join.ts';
import { memberCluster } from '../../../src/api/member-cluster.ts';
import { HUB_USER_NAME, leases, memberServiceAccount, SYSTEM_NAMESPACE } from '../../../src/api/names.ts';
import type { KubeObject, User } from '../../../src/api/object.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { builtinResources } from '../../../src/apiserver/builtin/registry.ts';
import { catalogueOf } from '../../../src/apiserver/live-catalogue.ts';
import { createRegistry } from '../../../src/apiserver/live-registry.ts';
import { ApiError } from '../../../src/base/errors.ts';
import { startAgent } from '../../../src/main/agent-parts.ts';
import { type HubOptions, startHub } from '../../../src/main/parts.ts';
import { transportProbe } from '../../../src/member/heartbeat/probe.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { startLeader } from '../../../src/runtime/leader.ts';
import type { Manager } from '../../../src/runtime/manager.ts';
import type { Stop } from '../../../src/sim/world.ts';

export const identityOf = (cluster: string): User => ({
  name: `system:serviceaccount:${SYSTEM_NAMESPACE}:${memberServiceAccount(cluster)}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM_NAMESPACE}`, 'system:authenticated'],
});

/** The identity of a hub's controllers: only it may write acceptance of approvals. */
export const hubIdentity: User = { name: HUB_USER_NAME, groups: ['system:masters', 'system:authenticated'] };

const PLACED = ['Namespace', 'ConfigMap', 'Deployment'];

/** The kinds that are placed in worlds: few, because every kind that may be in a namespace is watched. */
export function placedKinds(kinds: readonly string[] = PLACED): LiveCatalogue {
  const placed = builtinResources().filter(({ kind }) => kinds.includes(kind));
  return catalogueOf(createRegistry(placed));
}

export const hubActor =
  (options: HubOptions, catalogue?: LiveCatalogue) =>
  (deps: Deps): Stop => {
    const manager = startHub(withKinds(deps, 'hub', catalogue), options);
    return () => manager.stop();
  };

/** One of several hubs with leader election. */
export const ledHubActor =
  (name: string, options: HubOptions, catalogue?: LiveCatalogue) =>
  (deps: Deps): Stop => {
    let manager: Manager | undefined;
    const leader = startLeader(
      { ...deps, transport: deps.servers.hub as Transport },
      {
        namespace: SYSTEM_NAMESPACE,
        name: leases.hub,
        identity: `${name}/${deps.random.uuid()}`,
        onChange(isLeading) {
          void manager?.stop();
          const mayWrite = () => leader.mayWrite();
          manager = isLeading ? startHub(withKinds(deps, 'hub', catalogue), { ...options, mayWrite }) : undefined;
        },
      },
    );
    return async () => {
      await manager?.stop();
      await leader.stop();
    };
  };

export const agentActor =
  (cluster: string, catalogue?: LiveCatalogue) =>
  (deps: Deps): Stop => {
    const probe = transportProbe(deps.servers.member as Transport);
    const manager = startAgent(withKinds(deps, 'member', catalogue), { cluster, probe });
    return () => manager.stop();
  };

const withKinds = (deps: Deps, on: 'hub' | 'member', catalogue: LiveCatalogue | undefined): Deps =>
  catalogue === undefined ? deps : { ...deps, catalogues: { [on]: catalogue } };

export async function join(api: Transport, name: string, options: Omit<JoinOptions, 'name'>): Promise<void> {
  const objects = joinObjects({ name, ...options });
  const inSystem = (plural: string, kind: string): Target => ({
    resource: { group: '', version: 'v1', kind, plural, namespaced: true },
    namespace: SYSTEM_NAMESPACE,
  });
  await ensure(api, { resource: namespaceResource }, objects.namespace);
  await ensure(api, inSystem('serviceaccounts', 'ServiceAccount'), objects.serviceAccount);
  await ensure(api, inSystem('secrets', 'Secret'), objects.tokenSecret);
  await ensure(api, { resource: memberCluster }, objects.memberCluster);
}

/** Existing objects are kept. */
export async function ensure(api: Transport, at: Target, object: KubeObject): Promise<void> {
  try {
    await api.call({ verb: 'create', at, object, manager: 'user' });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
}
