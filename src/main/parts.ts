// The running parts of Flotilla, put together from controllers: the same in one process, in several, and in a simulated world.
import type { Registry } from 'prom-client';
import type { LiveCatalogue } from '../api/catalogue.ts';
import type { Resource } from '../api/kind.ts';
import { evictionController } from '../hub/eviction/controller.ts';
import { evictionMetrics, noEvictionMetrics } from '../hub/eviction/metrics.ts';
import { families } from '../hub/families.ts';
import { type GitOptions, gitRepoController } from '../hub/git/controller.ts';
import { groupController } from '../hub/groups/controller.ts';
import { membership } from '../hub/membership/controller.ts';
import { memberMetrics, noMemberMetrics } from '../hub/membership/metrics.ts';
import type { Settings } from '../hub/membership/observed.ts';
import { overrideController } from '../hub/overrides/controller.ts';
import { overrideFamilies } from '../hub/overrides/sources.ts';
import { type PlacementOptions, placementController } from '../hub/placement/controller.ts';
import { noPlacementMetrics, placementMetrics } from '../hub/placement/metrics.ts';
import { profileController } from '../hub/profiles/controller.ts';
import { statusCopier } from '../hub/report-back/controller.ts';
import { createRendered } from '../hub/revisions/rendered.ts';
import { createWatchPlan } from '../hub/revisions/watch-plan.ts';
import { rolloutController } from '../hub/rollout/controller.ts';
import { createLookPace } from '../hub/rollout/look-pace.ts';
import { schedulerController } from '../hub/scheduler/controller.ts';
import { type RunOptions, runController } from '../hub/staged/controller.ts';
import { noRunMetrics, runMetrics } from '../hub/staged/metrics.ts';
import { workGenerator } from '../hub/work-generator/controller.ts';
import { applierWorker } from '../member/apply/worker.ts';
import { heartbeat } from '../member/heartbeat/controller.ts';
import type { OwnServer } from '../member/heartbeat/own-server.ts';
import type { Probe } from '../member/heartbeat/pulse.ts';
import { createCollector } from '../member/properties/collector.ts';
import type { PropertyProvider } from '../member/properties/provider.ts';
import { hubSources } from '../member/sources.ts';
import type { ServerName } from '../runtime/controller.ts';
import type { Deps } from '../runtime/deps.ts';
import { keepKinds } from '../runtime/kinds.ts';
import { type Manager, type ManagerOptions, startManager } from '../runtime/manager.ts';

type Controllers = ManagerOptions['controllers'];

interface PartOptions {
  mayWrite?(): boolean;
  readonly metrics?: Registry;
  /** The catalogue learns of new kinds only when it is told to read discovery again: over the wire. */
  readonly isRemote?: boolean;
}

export interface HubOptions extends Partial<Settings>, PartOptions {
  readonly placements?: Omit<PlacementOptions, 'catalogue' | 'plan' | 'metrics'>;
  readonly runs?: Pick<RunOptions, 'stuckAfterMs' | 'isSigned'>;
  /** Evictions that were created earlier are not carried out (epoch milliseconds). */
  readonly evictionsSince?: number;
  /** Repositories are followed by this; absent = GitRepos are not acted upon. */
  readonly git?: Pick<GitOptions, 'client' | 'renderer' | 'breathe'>;
}

/** Without a catalogue of the hub's kinds it only keeps the membership. */
export function startHub(deps: Deps, options: HubOptions = {}): Manager {
  const { mayWrite, metrics } = options;
  return startManager(deps, {
    controllers: hubControllers(deps, deps.catalogues?.hub, options),
    manager: 'flotilla-hub',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}

type Around = Pick<Deps, 'clock' | 'random'>;

function hubControllers(
  around: Around | undefined,
  catalogue: LiveCatalogue | undefined,
  options: HubOptions,
): Controllers {
  const { mayWrite: _, metrics, isRemote, placements, runs, evictionsSince, git, ...settings } = options;
  return [
    membership(settings, undefined, metrics === undefined ? noMemberMetrics : memberMetrics(metrics)),
    groupController(),
    profileController(),
    // On another's server nothing of ours looks at what is written.
    ...(catalogue === undefined
      ? []
      : delivery(catalogue, metrics, {
          placements,
          evictionsSince,
          runs: { isSigned: isRemote !== true, ...runs },
          git: around && git && { ...git, clock: around.clock, random: around.random.fork('git') },
        })),
    ...(catalogue !== undefined && isRemote ? [keepKinds('hub', catalogue)] : []),
  ];
}

/** The kinds without which the hub's controllers cannot begin. */
export const hubNeeds = (catalogue: LiveCatalogue): readonly Resource[] =>
  neededBy(hubControllers(undefined, catalogue, { isRemote: true }), 'hub');

/** A controller waits for the first list of each source that is not optional. */
function neededBy(controllers: Controllers, on: ServerName): readonly Resource[] {
  const sources = controllers
    .flatMap(({ watches }) => watches)
    .filter(({ optional, source }) => optional !== true && source.on === on)
    .map(({ source: { resource } }) => resource);
  return [...new Map(sources.map((each) => [`${each.group}/${each.version}/${each.plural}`, each])).values()];
}

function delivery(
  catalogue: LiveCatalogue,
  registry: Registry | undefined,
  {
    placements,
    runs,
    evictionsSince,
    git,
  }: { readonly [part in 'placements' | 'runs' | 'evictionsSince']: HubOptions[part] | undefined } & {
    readonly git: (NonNullable<HubOptions['git']> & Around) | undefined;
  },
) {
  const plan = createWatchPlan();
  const rendered = createRendered();
  const metrics = registry === undefined ? noPlacementMetrics : placementMetrics(registry);
  const ofRuns = {
    ...runs,
    ...(placements?.propagation === undefined ? {} : { propagation: placements.propagation }),
    ...(placements?.snapshotLimit === undefined ? {} : { snapshotLimit: placements.snapshotLimit }),
    catalogue,
    plan,
    rendered,
    metrics: registry === undefined ? noRunMetrics : runMetrics(registry),
  };
  const evictions = {
    ...(evictionsSince === undefined ? {} : { since: evictionsSince }),
    metrics: registry === undefined ? noEvictionMetrics : evictionMetrics(registry),
  };
  return [
    ...overrideFamilies.map(overrideController),
    ...(git === undefined
      ? []
      : [
          gitRepoController({
            ...git,
            catalogue,
            rendered,
            ...(placements?.propagation === undefined ? {} : { propagation: placements.propagation }),
          }),
        ]),
    ...families.flatMap((family) => [
      ...(family.eviction === undefined ? [] : [evictionController(family, evictions)]),
      placementController(family, { ...placements, catalogue, plan, rendered, metrics }),
      schedulerController(family),
      rolloutController(family, createLookPace(placements?.weight)),
      runController(family, ofRuns),
      workGenerator(family),
      statusCopier(family, catalogue),
    ]),
  ];
}

export interface AgentOptions extends PartOptions {
  readonly cluster: string;
  readonly probe: Probe;
  /** What is known of the member's API server. */
  readonly server?: () => OwnServer;
  /** Tells more of the member than the agent collects itself. */
  readonly provider?: PropertyProvider;
}

/** Without a catalogue of the member's kinds it only sends heartbeats. */
export function startAgent(deps: Deps, options: AgentOptions): Manager {
  const { cluster, probe, server, provider, mayWrite, metrics, isRemote } = options;
  return startManager(deps, {
    controllers: agentControllers(deps, {
      ...{ cluster, probe },
      ...(isRemote ? { isRemote } : {}),
      ...(server === undefined ? {} : { server }),
      ...(provider === undefined ? {} : { provider }),
    }),
    manager: 'flotilla-member',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}

function agentControllers(
  {
    clock,
    random,
    catalogues,
    servers,
  }: Pick<Deps, 'clock' | 'random' | 'catalogues'> & Partial<Pick<Deps, 'servers'>>,
  {
    cluster,
    probe,
    server,
    isRemote,
    provider,
  }: Pick<AgentOptions, 'cluster' | 'probe' | 'server' | 'isRemote' | 'provider'>,
): Controllers {
  const catalogue = catalogues?.member;
  const sources = hubSources(cluster);
  const member = servers?.member;
  const collector =
    provider === undefined || member === undefined
      ? {}
      : {
          collector: (signal: AbortSignal) =>
            createCollector({ provider, cluster, member, clock, random: random.fork('properties'), signal }),
        };
  return [
    heartbeat({
      cluster,
      probe,
      clock,
      random: random.fork('heartbeat'),
      sources,
      ...(server === undefined ? {} : { server }),
      ...collector,
    }),
    ...(catalogue === undefined
      ? []
      : [applierWorker({ cluster, catalogue, random: random.fork('applier'), sources })]),
    ...(catalogue !== undefined && isRemote ? [keepKinds('member', catalogue)] : []),
  ];
}

/** The kinds without which an agent cannot begin on its member. The hub may get its kinds later: an agent waits until the hub admits it. */
export const agentNeeds = (
  deps: Pick<Deps, 'clock' | 'random' | 'catalogues'>,
  options: Pick<AgentOptions, 'cluster' | 'probe'>,
): readonly Resource[] => neededBy(agentControllers(deps, { ...options, isRemote: true }), 'member');
