// `flotilla plan run NAME` and `flotilla plan run -f FILE`: what a staged update run would do. Writes nothing:
// manifests are checked by a dry run.

import type { Binding } from '../../api/binding.ts';
import { sentenceOf } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import { masterSnapshotName } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { families, type PlacementFamily } from '../../hub/families.ts';
import { isReachable } from '../../hub/members/reachable.ts';
import { unreachableAfterMs } from '../../hub/staged/annotations.ts';
import { howToStart } from '../../hub/staged/initialise.ts';
import { durationOf } from '../../insight/forecast/duration.ts';
import { type Forecast, type ForecastInput, forecast } from '../../insight/forecast/forecast.ts';
import { planOf } from '../../insight/forecast/run-plan.ts';
import { objectsIn } from '../../insight/forecast/snapshot-objects.ts';
import { withoutMarker } from '../../insight/plain-text.ts';
import { approveCommand, familyIn, titleOfRun, type WhichRun, within } from '../../insight/which-run.ts';
import { approversOf } from '../approve/approvers.ts';
import { rehearse } from '../objects/apply.ts';
import type { Manifest } from '../objects/manifests.ts';
import { selectedNow } from '../reading/selected-now.ts';
import type { Connected } from '../server/connect.ts';
import { getRun } from '../server/get-run.ts';
import { type Print, targetOf } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';
import { readContents, readForecastInput } from './forecast-input.ts';
import { renderPlan } from './render-plan.ts';

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

export interface PlanRunOptions {
  readonly output?: string;
  readonly clock: Clock;
  /** How long a cluster takes; absent = as long as the last time. */
  readonly durationMs?: number;
  /** Include each changed field. */
  readonly full: boolean;
}

/** The run to plan, perhaps with a strategy that is not on the hub yet. */
export interface Planned {
  readonly which: WhichRun;
  readonly run: StagedUpdateRun;
  readonly strategy?: KubeObject;
  /** It exists on the hub. */
  readonly isThere: boolean;
  readonly notes: readonly string[];
}

// ---- the run to plan

export async function plannedByName(server: Server, which: WhichRun): Promise<Planned> {
  const run = await getRun(server, which);
  return { which, run, isThere: true, notes: standingOf(which, run) };
}

/** The progress of an existing run. A finished one cannot be planned. */
function standingOf(which: WhichRun, { metadata, status }: StagedUpdateRun): readonly string[] {
  if (metadata.deletionTimestamp !== undefined) throw new UserError('Over', `${titleOfRun(which)} is being deleted`);
  const said = (type: string) => conditionOf(status?.conditions, type);
  const over = said('Succeeded') ?? (said('Initialized')?.status === 'False' ? said('Initialized') : undefined);
  if (over !== undefined) {
    throw new UserError(
      'Over',
      `${titleOfRun(which)} has ended; there is nothing left to plan: ${withoutMarker(over.message)}`,
    );
  }
  return said('Progressing') === undefined ? [] : ['it has been started: this is what is left'];
}

const isOf = (object: KubeObject, resource: PlacementFamily['run']): boolean =>
  object.kind === resource.kind && groupVersionOf(object.apiVersion).group === resource.group;

/** Exactly one run, with or without its strategy; everything else is read from the hub. */
export async function plannedByManifests(
  server: Server,
  manifests: readonly Manifest[],
  { namespace, warn }: { readonly namespace?: string; warn(message: string): void },
): Promise<Planned> {
  const objects = manifests.map(({ object }) => object);
  const runs = objects.filter((object) => families.some(({ run }) => isOf(object, run)));
  const [given, ...others] = runs;
  if (given === undefined || others.length > 0) {
    const found = given === undefined ? 'none is there' : `${runs.length} are there`;
    throw new UserError(
      'ManifestInvalid',
      `-f must name exactly one ClusterStagedUpdateRun or StagedUpdateRun: ${found}`,
    );
  }
  const family = families.find(({ run }) => isOf(given, run)) as PlacementFamily;
  if (!family.run.namespaced && namespace !== undefined) {
    throw new UserError('BadFlag', 'a ClusterStagedUpdateRun is in no namespace: omit -n');
  }
  const at = targetOf(server, given);
  const which: WhichRun = { family: familyIn(at.namespace), name: at.name, ...within(at.namespace) };
  const notes: string[] = [];
  const run = (await rehearsed(server, given, notes)) as StagedUpdateRun;
  notes.push(...standingOf(which, run));
  const wanted = run.spec?.stagedRolloutStrategyName;
  const strategy = objects.find(
    (object) =>
      isOf(object, family.strategy) &&
      object.metadata.name === wanted &&
      targetOf(server, object).namespace === at.namespace,
  );
  const rest = objects.filter((object) => object !== given && object !== strategy);
  if (rest.length > 0) {
    const names = rest.map(({ kind, metadata }) => `${kind} "${metadata.name}"`).join(', ');
    warn(`only the run and its strategy are taken from -f, everything else from the hub; left out: ${names}`);
  }
  return {
    which,
    run,
    isThere: false,
    ...(strategy === undefined ? {} : { strategy: await rehearsed(server, strategy, notes) }),
    notes,
  };
}

/** As the server would store it. A caller without the permission to write it still gets a plan. */
async function rehearsed(server: Server, object: KubeObject, notes: string[]): Promise<KubeObject> {
  try {
    return await rehearse(server, object);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 403)) throw error;
    notes.push(`the server did not check ${object.kind} "${object.metadata.name}": ${error.message}`);
    const { namespace } = targetOf(server, object);
    return { ...object, metadata: { ...object.metadata, ...within(namespace) } };
  }
}

// ---- the plan

/** Returns the exit code. */
export async function planRun(
  server: Server,
  planned: Planned,
  options: PlanRunOptions,
  print: Print,
): Promise<number> {
  const { which, run, strategy } = planned;
  const { clock, output, full } = options;
  const notes = [...planned.notes];
  const read = await readForecastInput(server, which, run, {
    now: clock.now(),
    strategy,
  });
  const duration = durationOf(read.bindings, options.durationMs);
  const ground = { ...read, durationMs: duration.durationMs };
  const foreseen = await foresee(server, ground, notes);
  notes.push(...silentOnes(ground, foreseen), ...waits(foreseen));
  const has = new Map(
    ground.bindings
      .map((each) => (each as Binding).spec)
      .map((spec) => [spec?.targetCluster ?? '', spec?.resourceSnapshotName ?? '']),
  );
  const made = foreseen.snapshots[0];
  const { resourceSnapshotIndexUsed: index } = foreseen.status;
  const shipped = index === undefined ? [] : [masterSnapshotName(run.spec.placementName, Number(index))];
  const contents = await readContents(server, ground, new Set([...has.values(), ...shipped]));
  const plan = planOf({
    kind: which.family.run.kind,
    name: which.name,
    ...within(which.namespace),
    placement: run.spec.placementName,
    forecast: foreseen,
    ...duration,
    full,
    has,
    contentOf: (name) => (made?.metadata.name === name ? objectsIn(foreseen.snapshots) : contents.get(name)),
    approvers: await approversOf(server, which.namespace),
    notes,
  });
  const isPlan = plan.stages.length > 0 && (foreseen.end === 'succeeds' || foreseen.steps.length > 0);
  if (output === 'json') print.line(JSON.stringify(plan, undefined, 2));
  else if (isPlan) {
    print.line(
      renderPlan(plan, {
        approve: (stage, when) => approveCommand(which, stage, when),
        ...startOf(planned),
        full,
      }),
    );
  }
  if (foreseen.end === 'succeeds') return EXIT.complete;
  print.error(`${foreseen.end === 'cannot begin' ? 'the run could not begin: ' : ''}${foreseen.message}`);
  return foreseen.end === 'waits' ? EXIT.waiting : EXIT.failed;
}

/** The command that starts an existing run which is not started. */
function startOf({ which: { family }, run, isThere }: Planned): { readonly start?: string } {
  const seen = family.runs.project?.(run);
  if (!isThere || run.spec.state === 'Run' || seen === undefined) return {};
  const command = howToStart({ family, run: seen });
  return { start: `${run.spec.state === 'Stop' ? 'Resume it' : 'Start it'}: ${command}` };
}

async function foresee(server: Server, ground: ForecastInput, notes: string[]): Promise<Forecast> {
  const first = forecast(ground);
  const { family, placement } = ground;
  const order = placement && family.placements.project?.(placement);
  if (first.end !== 'looks' || order === undefined) return first;
  const { selected, notes: unread } = await selectedNow(server, order);
  notes.push(...(selected.state === 'selected' ? selected.notes : []), ...unread);
  return forecast({ ...ground, selected });
}

function silentOnes({ members, run }: ForecastInput, { status }: Forecast): readonly string[] {
  const clusters = new Set(
    (status.stagesStatus ?? []).flatMap((stage) => stage.clusters.map(({ clusterName }) => clusterName)),
  );
  const isWaitedFor = unreachableAfterMs(run) === undefined;
  return members
    .filter((each) => clusters.has(each.metadata.name ?? '') && !isReachable(each))
    .map(
      ({ metadata }) =>
        `${memberCluster.kind} "${metadata.name}" is unreachable: ${isWaitedFor ? 'the run waits until it is reachable again (annotation flotilla.dev/unreachable-after lets the run continue)' : 'the run continues without it after flotilla.dev/unreachable-after'}`,
    );
}

const waits = ({ end, holds }: Forecast): readonly string[] =>
  end === 'waits' ? holds.slice(0, 3).map((hold) => `it would wait: ${sentenceOf(hold)}`) : [];
