// A GitRepo whose repository changes at any time: commits, force-pushes, mistakes in files, outages, a deleted branch,
// and a GitRepo that is deleted and recreated, under all faults. One of two hubs leads; each has its own disk, with the
// commit that it fetched last.
//
// Invariants: a cluster gets the content of one commit, in the order of the commits and with the options of that
// commit; a commit that cannot be read removes nothing; and the status is always true.
import { type GitRepo, gitRepo } from '../../../src/api/git-repo.ts';
import { hubKinds } from '../../../src/api/kinds.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { masterWorkName, memberNamespace, SYSTEM_NAMESPACE, workBaseName } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import { apiVersionOf, type KubeObject } from '../../../src/api/object.ts';
import { namespaceResource } from '../../../src/api/resources.ts';
import type { Target, Transport } from '../../../src/api/transport.ts';
import { type Work, work } from '../../../src/api/work.ts';
import { clusterFamily, type PlacementFamily } from '../../../src/hub/families.ts';
import { conditionsAreOfTheirObject, noWriteLost } from '../../../src/sim/check.ts';
import { usualRates } from '../../../src/sim/faults.ts';
import type { Scenario } from '../../../src/sim/scenario.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { WORLD_START_MS, type World } from '../../../src/sim/world.ts';
import { administrator, apiServer } from './api-server.ts';
import { ensure, hubIdentity, identityOf, join, ledHubActor, placedKinds } from './fleet.ts';
import { CLUSTERS, gitChecks, textsIn } from './git-checks.ts';
import {
  BROKEN,
  type BundleState,
  broughtTo,
  type Commit,
  createRepository,
  FLAWS,
  isOverlaid,
  type Repository,
} from './git-repository.ts';
import { lightMemberActor } from './light-member.ts';
import { person } from './person.ts';
import { isDeleting, isJoined, merge, type Roll } from './rollout-world.ts';

const CALM_MS = 15_000;
const FAULT_MS = 180_000;
const SILENCE_MS = 45_000;
const NAMESPACE = 'app';
const NAME = 'shop';
const BUNDLES = ['a', 'b', 'c'];

export interface GitScenarioOptions {
  readonly name: string;
  readonly family: PlacementFamily;
  readonly ciRuns: number;
}

export const gitScenario = ({ name, family, ciRuns }: GitScenarioOptions): Scenario => ({
  name,
  calmMs: CALM_MS,
  faultMs: FAULT_MS,
  rates: { ...usualRates, silenceMs: SILENCE_MS },
  dazedMs: SILENCE_MS + 30_000,
  healMs: 1_200_000,
  steps: 150_000,
  ciRuns,
  set(world) {
    const repository = createRepository({
      first: { a: fresh('v1'), b: fresh('v1') },
      now: () => world.now,
      troubleUntil: WORLD_START_MS + FAULT_MS,
    });
    const at: Target = {
      resource: gitRepo,
      namespace: family === clusterFamily ? SYSTEM_NAMESPACE : NAMESPACE,
      name: NAME,
    };
    settle(world, repository, at);
    for (const each of gitChecks(repository, family)) world.check(each);
    world.check(noWriteLost());
    world.check(conditionsAreOfTheirObject());
    return () => unsettled(world, { repository, family, at });
  },
});

function settle(world: World, repository: Repository, at: Target): void {
  const kinds = placedKinds(['Namespace', 'ConfigMap']);
  const asAdministrator = { servers: { hub: { server: 'hub', as: administrator } }, steady: true } as const;
  world.server('hub', apiServer({ kinds: hubKinds, isDurable: world.seed % 10 === 0 }));
  const deed = userOf(world, repository, at);
  world.actor('user', person({ forMs: FAULT_MS + 600_000, pauseMs: 8_000, deed }), asAdministrator);
  for (const hub of ['hub-1', 'hub-2']) {
    world.actor(
      hub,
      (deps) =>
        ledHubActor(
          hub,
          {
            forceDeleteWaitMs: 120_000,
            git: { client: repository.clientFor(hub, { ...deps, random: deps.random.fork('git') }) },
          },
          kinds,
        )(deps),
      { servers: { hub: { server: 'hub', as: hubIdentity } } },
    );
  }
  for (const cluster of CLUSTERS)
    world.actor(`${cluster}-agent`, lightMemberActor({ cluster, namespace: NAMESPACE, isSteady: true }), {
      servers: { hub: { server: 'hub', as: identityOf(cluster) } },
    });
}

const typed = (resource: { group: string; version: string; kind: string }, object: object): KubeObject =>
  ({ apiVersion: apiVersionOf(resource.group, resource.version), kind: resource.kind, ...object }) as KubeObject;

// ---- the user

const fresh = (text: string): BundleState => ({ one: text, two: text, excluded: [], paused: false, maxUnavailable: 3 });

function userOf(world: World, repository: Repository, at: Target) {
  const missing = new Set(CLUSTERS);
  let isFixed = false;
  let forced = 0;
  const change = changes(world, repository);
  return async (api: Transport, roll: Roll): Promise<void> => {
    for (const name of missing) {
      const labels = { part: isOverlaid(name) ? 'b' : 'a' };
      await join(api, name, { heartbeatPeriodSeconds: 30, labels });
      missing.delete(name);
    }
    // A cluster that joins later is scheduled later, and the GitRepo might be Ready before.
    const { list } = await api.call({ verb: 'list', at: { resource: memberCluster } });
    if (!list?.items.every((each) => isJoined(each as MemberCluster))) return;
    const isOver = world.now >= WORLD_START_MS + FAULT_MS - 5_000;
    if (isOver && !isFixed) {
      repository.push(fixed(repository.head, roll));
      isFixed = true;
    }
    const dice = isOver ? -1 : roll(16);
    if (dice === 0) return merge(api, at, { spec: { forceSyncGeneration: ++forced } });
    if (dice === 1 && roll(3) === 0) {
      await api.call({ verb: 'delete', at });
      return;
    }
    if (dice > 1) change(roll);
    await ensure(
      api,
      { resource: namespaceResource },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    );
    const spec = {
      repo: 'https://git.example.com/shop.git',
      pollingInterval: '5s',
      targetNamespace: NAMESPACE,
      targets: [{ clusterSelector: {} }],
    };
    const metadata = { name: NAME, namespace: at.namespace ?? '' };
    await ensure(api, { resource: gitRepo, namespace: at.namespace ?? '' }, typed(gitRepo, { metadata, spec }));
  };
}

/** A commit, a force-push, or a failure of the repository. */
function changes(world: World, repository: Repository) {
  let version = 1;
  const next = (roll: Roll) => (roll(8) === 0 ? `bad${++version}` : `v${++version}`);
  const changed = (state: BundleState, roll: Roll): BundleState => {
    const { flaw: _flaw, ...sound } = state;
    const text = {
      ...sound,
      ...(roll(3) === 0 ? {} : { one: next(roll) }),
      ...(roll(3) === 0 ? {} : { two: next(roll) }),
    };
    switch (roll(10)) {
      case 0:
        return { ...text, paused: !state.paused };
      case 1:
        return { ...text, excluded: CLUSTERS.filter(() => roll(3) === 0) };
      case 2: {
        const { over: _over, ...plain } = text;
        return roll(3) === 0 ? plain : { ...text, over: roll(3) === 0 ? BROKEN : next(roll) };
      }
      case 3:
        return { ...text, maxUnavailable: 1 + roll(3) };
      case 4:
      case 5:
      case 6:
        return { ...text, flaw: FLAWS[roll(FLAWS.length)] as (typeof FLAWS)[number] };
      default:
        return text;
    }
  };
  return (roll: Roll): void => {
    const { bundles } = repository.head;
    switch (roll(12)) {
      case 0: {
        const known = repository.heads;
        repository.rewind(known[Math.max(0, known.length - 1 - roll(6))] as Commit);
        return;
      }
      case 1:
        repository.downUntil = world.now + roll(90_000);
        return;
      case 2:
        repository.missingUntil = world.now + roll(40_000);
        return;
      case 3:
        // A commit that changes no placed object, or that removes all.
        repository.push(roll(3) === 0 ? {} : bundles);
        return;
      default: {
        const name = BUNDLES[roll(BUNDLES.length)] as string;
        const { [name]: state, ...others } = bundles;
        if (state !== undefined && roll(6) === 0) repository.push(others);
        else repository.push({ ...others, [name]: state === undefined ? fresh(next(roll)) : changed(state, roll) });
      }
    }
  };
}

/** A commit that can be read completely, and works. */
function fixed({ bundles }: Commit, roll: Roll): Commit['bundles'] {
  const names = Object.keys(bundles).length === 0 ? ['a'] : Object.keys(bundles);
  return Object.fromEntries(
    names.map((name): [string, BundleState] => [
      name,
      { ...fresh('last'), ...(roll(2) === 0 ? { over: 'last-b' } : {}), excluded: roll(3) === 0 ? ['c2'] : [] },
    ]),
  );
}

// ---- end state

interface End {
  readonly repository: Repository;
  readonly family: PlacementFamily;
  readonly at: Target;
}

function unsettled(world: World, { repository, family, at }: End): string | undefined {
  const store = world.store('hub');
  if (store === undefined) return 'the hub is down';
  const { head } = repository;
  if (!Object.values(head.bundles).some(({ one }) => one === 'last')) return 'the last commit has not been pushed';
  const repo = store.get(`${gitRepo.group}/${gitRepo.plural}/${at.namespace}/${at.name}`)?.object() as
    | GitRepo
    | undefined;
  if (repo === undefined || isDeleting(repo)) return 'there is no GitRepo';
  const { commit, display, problems = [], conditions } = repo.status ?? {};
  const missing = notDelivered(store, head, family);
  if (missing !== undefined)
    return `${missing}: ${display?.state} ${JSON.stringify(problems)} ${JSON.stringify(conditions)}`;
  const isReady = conditionOf(conditions, 'Ready')?.status === 'True' && display?.state === 'Ready';
  return commit === head.id && isReady ? undefined : `the status of the GitRepo is ${JSON.stringify(repo.status)}`;
}

function notDelivered(store: Readable, { bundles }: Commit, family: PlacementFamily): string | undefined {
  const { group, plural } = family.placement;
  const placements = store.range(`${group}/${plural}/`).items.map((each) => each.object().metadata.name ?? '');
  const surplus = placements.find((name) => !(name in bundles));
  if (surplus !== undefined) return `placement ${surplus} is left`;
  const namespace = family === clusterFamily ? undefined : NAMESPACE;
  for (const [bundle, state] of Object.entries(bundles))
    for (const cluster of CLUSTERS) {
      const key = `${work.group}/${work.plural}/${memberNamespace(cluster)}/${masterWorkName(workBaseName(bundle, namespace))}`;
      const found = store.get(key)?.object() as Work | undefined;
      const manifests = (found?.spec?.workload?.manifests ?? []) as unknown as readonly KubeObject[];
      const has = found === undefined ? undefined : textsIn(manifests, bundle);
      const wanted = broughtTo(cluster, state);
      if (has !== wanted) return `${cluster} has "${has}" of bundle ${bundle}, not "${wanted}"`;
    }
  return undefined;
}
