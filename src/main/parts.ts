// The running parts of Flotilla, put together from controllers: the same in one process, in several, and in a simulated world.
import type { Registry } from 'prom-client';
import type { LiveCatalogue } from '../api/catalogue.ts';
import { families } from '../hub/families.ts';
import { groupController } from '../hub/groups/controller.ts';
import { membership } from '../hub/membership/controller.ts';
import type { Settings } from '../hub/membership/observed.ts';
import { type PlacementOptions, placementController } from '../hub/placement/controller.ts';
import { noPlacementMetrics, placementMetrics } from '../hub/placement/metrics.ts';
import { createWatchPlan } from '../hub/revisions/watch-plan.ts';
import { rolloutController } from '../hub/rollout/controller.ts';
import { createLookPace } from '../hub/rollout/look-pace.ts';
import { schedulerController } from '../hub/scheduler/controller.ts';
import { type RunOptions, runController } from '../hub/staged/controller.ts';
import { noRunMetrics, runMetrics } from '../hub/staged/metrics.ts';
import { workGenerator } from '../hub/work-generator/controller.ts';
import { applierWorker } from '../member/apply/worker.ts';
import { heartbeat } from '../member/heartbeat/controller.ts';
import type { Probe } from '../member/heartbeat/pulse.ts';
import { hubSources } from '../member/sources.ts';
import type { Deps } from '../runtime/deps.ts';
import { keepKinds } from '../runtime/kinds.ts';
import { type Manager, startManager } from '../runtime/manager.ts';

interface PartOptions {
  mayWrite?(): boolean;
  readonly metrics?: Registry;
  /** The catalogue learns of new kinds only when it is told to read discovery again: over the wire. */
  readonly isRemote?: boolean;
}

export interface HubOptions extends Partial<Settings>, PartOptions {
  readonly placements?: Omit<PlacementOptions, 'catalogue' | 'plan' | 'metrics'>;
  readonly runs?: Pick<RunOptions, 'stuckAfterMs' | 'isSigned'>;
}

/** Without a catalogue of the hub's kinds it only keeps the membership. */
export function startHub(deps: Deps, options: HubOptions = {}): Manager {
  const { mayWrite, metrics, isRemote, placements, runs, ...settings } = options;
  const catalogue = deps.catalogues?.hub;
  return startManager(deps, {
    controllers: [
      membership(settings),
      groupController(),
      // On another's server nothing of ours looks at what is written.
      ...(catalogue === undefined
        ? []
        : delivery(catalogue, metrics, { placements, runs: { isSigned: isRemote !== true, ...runs } })),
      ...(catalogue !== undefined && isRemote ? [keepKinds('hub', catalogue)] : []),
    ],
    manager: 'flotilla-hub',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}

function delivery(
  catalogue: LiveCatalogue,
  registry: Registry | undefined,
  { placements, runs }: { readonly [part in 'placements' | 'runs']: HubOptions[part] | undefined },
) {
  const plan = createWatchPlan();
  const metrics = registry === undefined ? noPlacementMetrics : placementMetrics(registry);
  const ofRuns = {
    ...runs,
    ...(placements?.propagation === undefined ? {} : { propagation: placements.propagation }),
    catalogue,
    plan,
    metrics: registry === undefined ? noRunMetrics : runMetrics(registry),
  };
  return families.flatMap((family) => [
    placementController(family, { ...placements, catalogue, plan, metrics }),
    schedulerController(family),
    rolloutController(family, createLookPace(placements?.weight)),
    runController(family, ofRuns),
    workGenerator(family),
  ]);
}

export interface AgentOptions extends PartOptions {
  readonly cluster: string;
  readonly probe: Probe;
}

/** Without a catalogue of the member's kinds it only sends heartbeats. */
export function startAgent(deps: Deps, { cluster, probe, mayWrite, metrics, isRemote }: AgentOptions): Manager {
  const { clock, random } = deps;
  const catalogue = deps.catalogues?.member;
  const sources = hubSources(cluster);
  return startManager(deps, {
    controllers: [
      heartbeat({ cluster, probe, clock, random: random.fork('heartbeat'), sources }),
      ...(catalogue === undefined
        ? []
        : [applierWorker({ cluster, catalogue, random: random.fork('applier'), sources })]),
      ...(catalogue !== undefined && isRemote ? [keepKinds('member', catalogue)] : []),
    ],
    manager: 'flotilla-member',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}
