// The invariants of staged update runs, observed from outside: on bindings, requests and members. No cluster gets a
// revision before its stage; never more clusters than the maximum are updated at a time; no closed gate is passed; a
// run that is stopped or deleted starts nothing; nothing moves without a run; and what a run reports as done is done.
import type { ApprovalRequest } from '../../../src/api/approval-request.ts';
import type { Binding } from '../../../src/api/binding.ts';
import { annotations, clusterOfNamespace } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { StagedUpdateRun, StageStatus } from '../../../src/api/staged-update-run.ts';
import type { Request } from '../../../src/api/transport.ts';
import { type Work, work } from '../../../src/api/work.ts';
import { parseDuration } from '../../../src/base/duration.ts';
import { countAtLeastOne } from '../../../src/base/int-or-percent.ts';
import { isObject } from '../../../src/base/json.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import { type Checker, changeChecker, type Happening, type Sight } from '../../../src/sim/check.ts';
import type { ReadableChange } from '../../../src/sim/server.ts';
import { Causes, endOf } from './staged-causes.ts';
import {
  Chronicle,
  isAccepted,
  isApproved,
  isAvailable,
  isDeleting,
  isOver,
  isPicked,
  isSaid,
  isSkipped,
  planOf,
  requestsOf,
  snapshotOf,
  stagesOf,
  type Told,
  waitMsOf,
} from './staged-chronicle.ts';

export interface StagedStory {
  readonly family: PlacementFamily;
  readonly hubs: readonly string[];
  /** The maximum clock skew, in either direction. */
  readonly skewMs: number;
  /** How many hubs act at the same time. */
  readonly leaders: number;
}

const RULES = {
  order: 'stages go one after the other',
  gates: 'closed gates stay closed',
  record: 'gates are passed on the record',
  limit: 'the concurrency is kept',
  orders: 'nothing moves without a run',
  stopped: 'what is stopped starts nothing',
  words: 'what is said to be done is done',
  causes: 'nobody gives up without a cause',
  verdicts: 'approvals count for what they are about',
  skips: 'only those are left out that may be',
  newest: 'a run brings what is there',
} as const;
type Rule = keyof typeof RULES;
interface Objection {
  readonly rule: Rule;
  readonly text: string;
}

/** How long a hub may not have seen that a member is back. */
const BEHIND_MS = 90_000;
/** How long after the response about its run a move may be sent. */
const AT_ONCE_MS = 100;
/** Times have whole seconds. */
const SECOND_MS = 1000;
/** From a read of the server to the status that is based on it. */
const WORD_MS = 2000;

export function stagedCheckers(story: StagedStory): readonly Checker[] {
  // A single active hub has written the state of the bindings itself. One of two may not have seen that a cluster has
  // stopped working.
  const chronicle = new Chronicle(story.family, story.leaders > 1 ? BEHIND_MS : 0);
  const orders = new Orders(story, chronicle);
  const causes = new Causes(story.family, story.hubs, chronicle);
  const objections: Objection[] = [];
  const object = (all: readonly Objection[]) => {
    objections.push(...all);
    return undefined;
  };
  const follow = changeChecker('chronicle', (change, server, sight) => {
    if (server !== 'hub') return undefined;
    object(judge(change, { story, chronicle, causes, now: sight.now, before: true }));
    chronicle.follow(change, sight.now);
    return object(judge(change, { story, chronicle, causes, now: sight.now, before: false }));
  });
  return [
    {
      name: 'chronicle',
      look: (sight) => follow.look?.(sight),
      hear(happening, sight) {
        causes.hear(happening, sight);
        return object(orders.hear(happening, sight));
      },
    },
    ...Object.entries(RULES).map(
      ([rule, name]): Checker => ({ name, look: () => objections.find((each) => each.rule === rule)?.text }),
    ),
  ];
}

interface Ground {
  readonly story: StagedStory;
  readonly chronicle: Chronicle;
  readonly now: number;
  /** The chronicle before the change; otherwise with it. */
  readonly before: boolean;
}

function judge(change: ReadableChange, ground: Ground & { readonly causes: Causes }): readonly Objection[] {
  const { family } = ground.story;
  const [now, before] = [change.stored.object(), change.previous?.object()];
  if (now.kind === family.binding.kind && !change.deleted) {
    return ground.before ? [] : bindingChanged(now as Binding, before as Binding | undefined, ground);
  }
  if (now.kind === work.kind && !change.deleted) {
    return ground.before ? [] : workChanged(now as Work, before as Work | undefined, ground);
  }
  if (now.kind === family.run.kind && !change.deleted) {
    return ground.before ? [] : runChanged(now as StagedUpdateRun, before as StagedUpdateRun | undefined, ground);
  }
  if (now.kind === family.approvalRequest.kind && !change.deleted) {
    // With the change in the chronicle, every acceptance would count as accepted before.
    return ground.before ? requestChanged(now as ApprovalRequest, before as ApprovalRequest | undefined, ground) : [];
  }
  return [];
}

// ---- bindings

function bindingChanged(now: Binding, before: Binding | undefined, ground: Ground): readonly Objection[] {
  const { targetCluster: cluster, resourceSnapshotName: snapshot, state } = now.spec;
  if (state === 'Unscheduled') {
    const isTakenOut = isDeleting(now) && before !== undefined && !isDeleting(before);
    return isTakenOut
      ? best(removersOf(cluster, ground), (told) => removalTrouble(told, ground), `${cluster} is taken out`)
      : [];
  }
  const had = before?.spec.resourceSnapshotName ?? '';
  // The scheduler restores a binding that it had given up, unchanged: that needs no run.
  const isTakenBack = before?.spec.state === 'Unscheduled' && had !== '';
  const isMoved = had !== snapshot || (state === 'Bound' && before?.spec.state !== 'Bound' && !isTakenBack);
  if (isAvailable(now) && !ground.chronicle.hasAnswered(cluster, snapshot))
    return [{ rule: 'words', text: `${cluster} is said to work with ${snapshot}, and its member never said so` }];
  if (!isMoved) return [];
  const what = `${cluster} moves from ${had || 'nothing'} to ${snapshot || 'nothing'}`;
  return best(moversOf(cluster, snapshot, ground), (told) => moveTrouble(told, cluster, ground), what);
}

/** At least one run must permit it; otherwise reports what each lacks. */
function best(
  runs: readonly Told[],
  troubleIn: (told: Told) => Objection | undefined,
  what: string,
): readonly Objection[] {
  const troubles = runs.map((told) => ({ told, trouble: troubleIn(told) }));
  if (troubles.some(({ trouble }) => trouble === undefined)) return [];
  const first = troubles.find(({ told }) => !told.isGone && !isOver(told.run)) ?? troubles[0];
  if (first?.trouble === undefined) return [{ rule: 'orders', text: `${what}, and no run is about that` }];
  const lacks = troubles.map(({ told, trouble }) => `${told.name}: ${trouble?.text}`).join('; ');
  return [{ rule: first.trouble.rule, text: `${what}, and no run may (${lacks})` }];
}

const moversOf = (cluster: string, snapshot: string, { chronicle }: Pick<Ground, 'chronicle'>): readonly Told[] =>
  chronicle.runs.filter(
    ({ run }) =>
      snapshot !== '' &&
      snapshotOf(run) === snapshot &&
      stagesOf(run).some(({ clusters }) => clusters.some(({ clusterName }) => clusterName === cluster)),
  );

const removersOf = (cluster: string, { chronicle }: Pick<Ground, 'chronicle'>): readonly Told[] =>
  chronicle.runs.filter(({ run }) =>
    run.status?.deletionStageStatus?.clusters.some(({ clusterName }) => clusterName === cluster),
  );

function moveTrouble(told: Told, cluster: string, ground: Ground): Objection | undefined {
  const stages = stagesOf(told.run);
  const at = stages.findIndex(({ clusters }) => clusters.some(({ clusterName }) => clusterName === cluster));
  const earlier = notThrough(told, at, ground) ?? closedBefore(told, at, ground) ?? notRecorded(told, at);
  if (earlier !== undefined) return earlier;
  const stage = stages[at] as StageStatus;
  const most = countAtLeastOne(planOf(told.run, at)?.maxConcurrency ?? 1, stage.clusters.length);
  const skipped = new Set(stage.clusters.filter(isSkipped).map(({ clusterName }) => clusterName));
  const under = ground.chronicle
    .inFlight(told, stage)
    .filter((each) => !skipped.has(each) && !isGivenUp(told, each, ground));
  // Other runs with the same revision for one of these clusters use their limit at the same moment: each write concerns
  // another binding.
  const others = new Set(
    under
      .flatMap((each) => moversOf(each, snapshotOf(told.run), ground))
      .filter((each) => each.uid !== told.uid && !each.isGone && !isOver(each.run)),
  );
  if (under.length <= most * (1 + others.size)) return undefined;
  return { rule: 'limit', text: `${under.join(', ')} are under way and ${most} may be` };
}

/** A new leader relies on the status: a decision that was not recorded is made again, and may differ. */
function notRecorded({ run }: Told, at: number): Objection | undefined {
  const stages = stagesOf(run);
  const open = stages.slice(0, at).find((stage) => !isSaid(stage, 'Succeeded'));
  if (open !== undefined) return { rule: 'record', text: `it is not written that stage ${open.stageName} is done` };
  const gate = stages[at]?.beforeStageTaskStatus?.find((task) => !isSaid(task, 'ApprovalRequestApproved'));
  return gate && { rule: 'record', text: `it is not written that ${gate.approvalRequestName} is given` };
}

/** The run may continue without it, and it has been unreachable for a while. */
const isGivenUp = ({ run }: Told, cluster: string, { chronicle, now }: Ground): boolean =>
  run.metadata.annotations?.[annotations.unreachableAfter] !== undefined &&
  chronicle.wasSilent(cluster, 0, now - BEHIND_MS, now);

function removalTrouble(told: Told, ground: Ground): Objection | undefined {
  return notThrough(told, stagesOf(told.run).length, ground);
}

/** What is not done yet in the stages before this one. */
function notThrough(told: Told, before: number, ground: Ground): Objection | undefined {
  for (const [at, stage] of stagesOf(told.run).slice(0, before).entries()) {
    if (stage.clusters.length === 0) continue;
    const trouble =
      closedBefore(told, at, ground) ?? notComplete(told, stage, ground) ?? closedAfter(told, at, stage, ground);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

function notComplete(told: Told, stage: StageStatus, { chronicle }: Ground): Objection | undefined {
  const open = stage.clusters.find(
    (each) => !isSkipped(each) && chronicle.doneAt(told, each.clusterName) === undefined,
  );
  if (open === undefined) return undefined;
  return {
    rule: 'order',
    text: `${open.clusterName} of stage ${stage.stageName} has not worked with ${snapshotOf(told.run)}`,
  };
}

function closedBefore(told: Told, at: number, { chronicle }: Ground): Objection | undefined {
  const { stageName = '', beforeStageTaskStatus: tasks } = stagesOf(told.run)[at] ?? {};
  const closed = requestsOf(tasks).find((name) => !chronicle.wasApproved(told, name, stageName));
  return closed === undefined ? undefined : { rule: 'gates', text: `${closed} was not approved` };
}

function closedAfter(told: Told, at: number, stage: StageStatus, ground: Ground): Objection | undefined {
  const { chronicle, now, story } = ground;
  const closed = requestsOf(stage.afterStageTaskStatus).find(
    (name) => !chronicle.wasApproved(told, name, stage.stageName),
  );
  if (closed !== undefined) return { rule: 'gates', text: `${closed} was not approved` };
  const waitedFor = stage.clusters.filter((each) => !isSkipped(each));
  const done = waitedFor.map(({ clusterName }) => chronicle.doneAt(told, clusterName) ?? 0);
  const openFrom = Math.max(...done) + waitMsOf(planOf(told.run, at)) - 2 * story.skewMs;
  if (waitMsOf(planOf(told.run, at)) === 0 || now >= openFrom) return undefined;
  return { rule: 'gates', text: `the wait after stage ${stage.stageName} is not over for ${openFrom - now} ms` };
}

/** A member receives the content of its binding only after the binding's status says so. */
function workChanged(now: Work, before: Work | undefined, { chronicle }: Ground): readonly Objection[] {
  const [snapshot = '', had] = [now, before].map(
    (each) => each?.metadata.annotations?.[annotations.parentResourceSnapshotName],
  );
  const cluster = clusterOfNamespace(now.metadata.namespace ?? '') ?? '';
  if (snapshot === had || chronicle.mayBeTold(cluster, snapshot)) return [];
  return [{ rule: 'orders', text: `${cluster} is told of ${snapshot}, and that was not said of its binding` }];
}

// ---- the status of runs

function runChanged(
  now: StagedUpdateRun,
  before: StagedUpdateRun | undefined,
  ground: Ground & { readonly causes: Causes },
): readonly Objection[] {
  const told = ground.chronicle.runs.find(({ uid }) => uid === now.metadata.uid);
  if (told === undefined) return [];
  const was = new Map(
    stagesOf(before ?? now).flatMap(({ clusters }) => clusters.map((each) => [each.clusterName, each])),
  );
  const fresh = stagesOf(now)
    .flatMap(({ clusters }) => clusters)
    .filter(
      (each) => isSaid(each, 'Succeeded') && (before === undefined || !isSaid(was.get(each.clusterName), 'Succeeded')),
    );
  const objections: Objection[] = [];
  for (const cluster of fresh) {
    const { clusterName: name } = cluster;
    if (!isSkipped(cluster)) {
      if (ground.chronicle.doneAt(told, name) === undefined)
        objections.push({ rule: 'words', text: `${told.name} says that ${name} has ${snapshotOf(now)} and works` });
    } else if (!mayBeLeftOut(told, name, ground))
      objections.push({ rule: 'skips', text: `${told.name} goes on without ${name}` });
  }
  if (isSaid(now.status, 'Succeeded') && !isSaid(before?.status, 'Succeeded')) {
    const trouble = notThrough(told, stagesOf(now).length, ground) ?? notTakenOut(now, ground);
    if (trouble !== undefined)
      objections.push({ rule: trouble.rule, text: `${told.name} says that it has succeeded, though ${trouble.text}` });
  }
  if (isSaid(now.status, 'Initialized') && !isSaid(before?.status, 'Initialized')) {
    const [has, was] = [ground.chronicle.versionIn(snapshotOf(now)), ground.chronicle.versionAt(told.madeAt)];
    if (now.spec.resourceSnapshotIndex === undefined && has < was)
      objections.push({
        rule: 'newest',
        text: `${told.name} brings version ${has}; when it was made there was ${was}`,
      });
  }
  const end = endOf(now);
  const truth = end !== undefined && endOf(before) === undefined ? ground.causes.untruthIn(end, told) : undefined;
  if (truth !== undefined) objections.push({ rule: 'causes', text: `${told.name} gives up though ${truth}: ${end}` });
  const blamed = blamedIn(now);
  if (blamed !== undefined && blamedIn(before) === undefined && isUntouched(now, blamed, ground))
    objections.push({ rule: 'words', text: `${told.name} says that somebody has changed what ${blamed} is to have` });
  return objections;
}

function notTakenOut({ status }: StagedUpdateRun, { chronicle }: Ground): Objection | undefined {
  const left = status?.deletionStageStatus?.clusters.find(
    (each) => !isSkipped(each) && chronicle.bindings.some((one) => isGivenUpBy(one, each.clusterName)),
  );
  return left && { rule: 'words', text: `${left.clusterName} is not taken out` };
}

const isGivenUpBy = ({ spec }: Binding, cluster: string): boolean =>
  spec.targetCluster === cluster && spec.state === 'Unscheduled';

/** The cluster whose desired state another client has changed, according to the run. */
const blamedIn = (run: StagedUpdateRun | undefined): string | undefined =>
  run?.status?.stagesStatus
    ?.flatMap(({ clusters }) => clusters)
    .find((each) => conditionOf(each.conditions, 'Succeeded')?.status === 'False')?.clusterName;

/** For long enough: another client may have reverted its change between the read and the status. */
const isUntouched = (run: StagedUpdateRun, cluster: string, { chronicle, now }: Ground): boolean =>
  chronicle.hasKept(cluster, snapshotOf(run), WORD_MS, now);

function mayBeLeftOut({ run, madeAt }: Told, cluster: string, { chronicle, now, story }: Ground): boolean {
  const notes = run.metadata.annotations ?? {};
  const mayGoOn = notes[annotations.membershipChange] === 'Continue' && chronicle.wasUnpickedSince(cluster, madeAt);
  const patienceMs = parseDuration(notes[annotations.unreachableAfter] ?? '');
  const mayGiveUp =
    patienceMs !== undefined &&
    chronicle.wasSilent(cluster, patienceMs - 2 * story.skewMs - SECOND_MS, now - BEHIND_MS, now);
  return mayGoOn || mayGiveUp;
}

// ---- approvals

function requestChanged(
  now: ApprovalRequest,
  before: ApprovalRequest | undefined,
  { chronicle }: Ground,
): readonly Objection[] {
  const { name = '' } = now.metadata;
  const [was, is] = [before !== undefined && isAccepted(before), isAccepted(now)];
  if (was === is) return [];
  if (was) return [{ rule: 'verdicts', text: `the acceptance of ${name} was taken back` }];
  const told = chronicle.askerOf(now);
  if (told === undefined) return [{ rule: 'verdicts', text: `${name} is accepted, and no run has asked for it` }];
  if (before !== undefined && isApproved(before)) return [];
  // Its gate was passed before: deleting the request does not close it.
  if (chronicle.wasAccepted(told, name, now.spec.targetStage)) return [];
  return [{ rule: 'verdicts', text: `${name} is accepted, and nobody has approved it as it is` }];
}

// ---- requests of hubs

interface Asked {
  readonly mayGo: boolean;
  readonly at: number;
}

/**
 * Whether a run may start something is judged when the write is sent, by the hub's last response about the run. A write
 * that is sent right after the server has answered that the run may continue is in flight when a user stops the run,
 * and may arrive late; no other write may.
 */
class Orders {
  readonly #story: StagedStory;
  readonly #chronicle: Chronicle;
  /** By hub and run: the run when the server answered. */
  readonly #executed = new Map<Request, StagedUpdateRun>();
  readonly #asked = new Map<string, Asked>();

  constructor(story: StagedStory, chronicle: Chronicle) {
    this.#story = story;
    this.#chronicle = chronicle;
  }

  hear(happening: Happening, sight: Sight): readonly Objection[] {
    if (!('request' in happening) || !this.#story.hubs.includes(happening.who)) return [];
    const { who, request, what } = happening;
    const { family } = this.#story;
    const { resource } = request.at;
    if (resource.kind === family.run.kind && request.verb !== 'list') {
      if (what === 'executed' && happening.answer.object !== undefined)
        this.#executed.set(request, happening.answer.object as StagedUpdateRun);
      const run = this.#executed.get(request);
      if (what === 'acknowledged' && run !== undefined)
        this.#asked.set(`${who} ${run.metadata.uid}`, { mayGo: mayGo(run), at: sight.now });
      if (what === 'acknowledged' || what === 'lost' || what === 'refused') this.#executed.delete(request);
      return [];
    }
    if (what === 'sent' && resource.kind === family.binding.kind) return this.#sent(who, request, sight);
    if (what === 'executed' && request.verb === 'create' && resource.kind === family.approvalRequest.kind)
      return this.#askedFor(request.object as ApprovalRequest, who, sight);
    return [];
  }

  #sent(who: string, request: Request, sight: Sight): readonly Objection[] {
    const binding = this.#chronicle.bindings.find(({ metadata }) => metadata.name === request.at.name);
    if (binding === undefined) return [];
    const cluster = binding.spec.targetCluster;
    const snapshot = movesTo(request);
    const movers =
      request.verb === 'delete' && !isPicked(binding)
        ? removersOf(cluster, { chronicle: this.#chronicle })
        : snapshot === undefined
          ? undefined
          : moversOf(cluster, snapshot, { chronicle: this.#chronicle });
    if (movers === undefined) return [];
    const what = `${who} orders to ${snapshot === undefined ? 'take out' : 'move'} ${cluster}`;
    return best(movers, (told) => this.#trouble(who, told, sight), what);
  }

  #trouble(who: string, told: Told, sight: Sight): Objection | undefined {
    if (!told.isGone && mayGo(told.run)) return undefined;
    const asked = this.#asked.get(`${who} ${told.uid}`);
    if (asked?.mayGo && sight.now - asked.at <= AT_ONCE_MS) return undefined;
    const state = told.isGone
      ? 'gone'
      : isDeleting(told.run)
        ? 'being deleted'
        : isOver(told.run)
          ? 'over'
          : told.run.spec.state;
    return { rule: 'stopped', text: `the run is ${state}` };
  }

  /** No approval is requested before it is due. */
  #askedFor(request: ApprovalRequest, who: string, sight: Sight): readonly Objection[] {
    const { name = '' } = request.metadata;
    const told = this.#chronicle.askerOf(request);
    const at = stagesOf(told?.run ?? ({} as StagedUpdateRun)).findIndex(
      ({ stageName }) => stageName === request.spec.targetStage,
    );
    if (told === undefined || told.isGone || at < 0) return [];
    const ground: Ground = { story: this.#story, chronicle: this.#chronicle, now: sight.now, before: false };
    const stage = stagesOf(told.run)[at] as StageStatus;
    const isAfter = requestsOf(stage.afterStageTaskStatus).includes(name);
    const trouble =
      notThrough(told, at, ground) ??
      (isAfter ? (closedBefore(told, at, ground) ?? notComplete(told, stage, ground)) : undefined);
    return trouble === undefined
      ? []
      : [{ rule: trouble.rule, text: `${who} asks for ${name}, though ${trouble.text}` }];
  }
}

const mayGo = (run: StagedUpdateRun | undefined): boolean =>
  run !== undefined && run.spec.state === 'Run' && !isDeleting(run) && !isOver(run);

function movesTo(request: Request): string | undefined {
  if (request.verb !== 'patch' || request.at.subresource !== undefined) return undefined;
  const { body } = request.patch;
  const spec = isObject(body) ? body['spec'] : undefined;
  const snapshot = isObject(spec) ? spec['resourceSnapshotName'] : undefined;
  return typeof snapshot === 'string' ? snapshot : undefined;
}
