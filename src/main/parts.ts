// Builds the hub from its controllers: the same for one process, several, and a simulated world. The agent is in
// agent-parts.ts, so that an agent's process does not load the hub.
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
import { schedulerController } from '../hub/scheduler/controller.ts';
import { type RunOptions, runController } from '../hub/staged/controller.ts';
import { noRunMetrics, runMetrics } from '../hub/staged/metrics.ts';
import { workGenerator } from '../hub/work-generator/controller.ts';
import type { Deps } from '../runtime/deps.ts';
import { keepKinds } from '../runtime/kinds.ts';
import { type Manager, type ManagerOptions, startManager } from '../runtime/manager.ts';
import type { PartOptions } from './agent-parts.ts';
import { neededBy } from './needed-kinds.ts';

type Controllers = ManagerOptions['controllers'];

export interface HubOptions extends Partial<Settings>, PartOptions {
  readonly placements?: Omit<PlacementOptions, 'catalogue' | 'plan' | 'metrics'>;
  readonly runs?: Pick<RunOptions, 'stuckAfterMs' | 'isSigned'>;
  /** Evictions created before this time are not carried out (epoch milliseconds). */
  readonly evictionsSince?: number;
  /** Follows repositories; absent = GitRepos are ignored. */
  readonly git?: Pick<GitOptions, 'client' | 'renderer' | 'breathe'>;
}

/** Without a catalogue of the hub's kinds, it only runs membership. */
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
    membership(settings, metrics === undefined ? noMemberMetrics : memberMetrics(metrics)),
    groupController(),
    profileController(),
    // On another server our admission does not run.
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

/** The kinds without which the hub's controllers cannot start. */
export const hubNeeds = (catalogue: LiveCatalogue): readonly Resource[] =>
  neededBy(hubControllers(undefined, catalogue, { isRemote: true }), 'hub');

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
      rolloutController(family, placements?.weight),
      runController(family, ofRuns),
      workGenerator(family),
      statusCopier(family, catalogue),
    ]),
  ];
}
