// Explains why a staged update run, or one cluster of it, does not progress: its holds, each with the chain down to the
// object that fails; without holds, its conditions.
import type { ApprovalRequest } from '../../api/approval-request.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { masterSnapshotName } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { ObjectRef } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import type { StageClusterStatus, StagedUpdateRun } from '../../api/staged-update-run.ts';
import { ageText } from '../../base/age.ts';
import { UserError } from '../../base/errors.ts';
import type { HubBinding } from '../../hub/placement-sources.ts';
import { judge } from '../../hub/planners/health.ts';
import { withoutMarker } from '../plain-text.ts';
import { progressOf } from '../progress/placement-progress.ts';
import { type RunProgress, runProgressOf, type StageProgress } from '../progress/run-progress.ts';
import { othersUnderWay, revisionsIn } from '../progress/runs-of-placement.ts';
import { labelOf } from '../progress/stuck.ts';
import { ifRead, type Reader } from '../reader.ts';
import { argumentOf, NAME, titleOf } from '../which-placement.ts';
import { approveCommand, titleOfRun, typed, type WhichRun } from '../which-run.ts';
import {
  type Answer,
  answer,
  causeOfEntry,
  concluded,
  HUB_RUNS,
  isNotOver,
  MAX_CLUSTERS,
  outdatedNote,
  waitsFor,
} from './answer.ts';
import { changedAgainNotes } from './changed-again.ts';
import { type Chain, clusterChain, MAX_CHAINS } from './evidence-chain.ts';
import { beside, type Cause, type Evidence, type Explanation, eventEvidence, sayCondition } from './explanation.ts';
import { deleteCommand, insteadOfResuming, type Overtaken, seeOther, wayBack, waysOut } from './run-advice.ts';

export interface RunCase {
  readonly which: WhichRun;
  readonly run: StagedUpdateRun;
  readonly placement: Placement | undefined;
  /** Reads the objects of its placement. */
  readonly reader: Reader;
  readonly now: number;
}

interface RunContext extends Chain {
  readonly whichRun: WhichRun;
  readonly run: StagedUpdateRun;
  readonly runTitle: string;
  readonly progress: RunProgress;
}

export async function explainRun(of: RunCase, cluster?: string): Promise<Explanation> {
  if (cluster !== undefined && !NAME.test(cluster)) {
    throw new UserError('BadFlag', `"${cluster}" cannot be the name of a cluster`);
  }
  const found = await answerAboutRun(of, cluster);
  const notes = [...changedAgainNotes(of.reader.worksRead()), ...of.reader.unread()];
  return concluded(titleOfRun(of.which), found, { notes });
}

/** The same as a part of the answer about its placement. `cluster`: one of a stage of the run. */
export async function answerAboutRun(of: RunCase, cluster?: string): Promise<Answer> {
  const { which: whichRun, run, placement, reader, now } = of;
  const which = { ...whichRun, name: run.spec.placementName };
  const story: RunContext = {
    which,
    whichRun,
    title: titleOf(which),
    placement,
    reader,
    now,
    told: new Set(),
    run,
    runTitle: titleOfRun(whichRun),
    progress: runProgressOf(run, new Map()),
  };
  const found = cluster === undefined ? await ofRun(story) : await ofClusterInRun(story, cluster);
  const isOfThePast = story.progress.isOver || story.progress.phase === 'Deleting';
  return { ...found, notes: [...found.notes, ...(isOfThePast ? [] : outdatedNote(story.progress))] };
}

async function ofRun(story: RunContext): Promise<Answer> {
  const { progress, runTitle: title, run, now } = story;
  if (progress.phase !== 'Deleting' && progress.phase !== 'Succeeded') {
    const end = await endOfPlacement(story);
    if (end !== undefined) return ofEndedPlacement(story, end);
  }
  switch (progress.phase) {
    case 'Deleting': {
      const { deletionTimestamp = '', finalizers = [] } = run.metadata;
      const held = `held by ${finalizers.join(', ') || 'nothing'}`;
      return answer(`${title} has been terminating for ${ageText(Date.parse(deletionTimestamp), now)}: ${held}`, {
        next: [HUB_RUNS],
      });
    }
    case 'New':
      return answer(`${title} waits: the hub has not processed it yet`, { next: [HUB_RUNS] });
    case 'Succeeded':
      return ofSuccess(story);
    case 'Failed':
      return ofFailure(story);
    default:
      return ofHolds(story);
  }
}

// ---- its placement is deleted

type End = 'is being deleted' | 'does not exist any more';

/**
 * undefined = it exists, or it is unknown. A run that has not started waits for its placement; any other fails without
 * it.
 */
async function endOfPlacement({ placement, reader, run, progress }: RunContext): Promise<End | undefined> {
  if (placement?.metadata.deletionTimestamp !== undefined) return 'is being deleted';
  const hasBegun = conditionOf(run.status?.conditions, 'Initialized')?.status === 'True';
  if (placement !== undefined || !hasBegun || progress.phase !== 'Failed') return undefined;
  if (!NAME.test(run.spec.placementName)) return undefined;
  const found = await reader.placement();
  return 'value' in found && found.value === undefined ? 'does not exist any more' : undefined;
}

/** A new run does not help, and clusters do not keep what this one rolled out. */
function ofEndedPlacement({ progress, runTitle, title, which, whichRun }: RunContext, end: End): Answer {
  const isDeleting = end === 'is being deleted';
  const lead =
    progress.phase === 'Failed' ? `${runTitle} has failed: ${progress.says}` : `${runTitle} ends: ${title} ${end}`;
  const fate = `${title} ${end}: its resources ${isDeleting ? 'are being' : 'were'} removed from all clusters, also from those that the run has updated`;
  return answer(lead, {
    causes: [{ sentence: fate, evidence: [] }],
    next: [
      ...(isDeleting ? [`show the progress of the removal: flotilla why ${argumentOf(which)}`] : []),
      `delete the run, it has nothing left to do: ${deleteCommand(whichRun)}`,
    ],
  });
}

// ---- it is over

function ofSuccess({ progress, runTitle }: RunContext): Answer {
  const { done, total, skipped, revision, stages } = progress;
  const clusters =
    skipped === 0
      ? total === 1
        ? 'its cluster has'
        : `all ${total} clusters have`
      : `${done} of ${total} clusters have`;
  const left = skipped === 0 ? '' : `, ${skipped} ${skipped === 1 ? 'was' : 'were'} skipped`;
  return answer(`${runTitle} is complete: ${clusters} revision ${revision}${left}`, {
    isWaiting: false,
    notes: stages.flatMap(({ clusters: all }) =>
      all.filter(({ state }) => state === 'Skipped').map(({ cluster, message }) => `cluster "${cluster}": ${message}`),
    ),
  });
}

async function ofFailure(story: RunContext): Promise<Answer> {
  const { progress, runTitle, run } = story;
  const hasBegun = conditionOf(run.status?.conditions, 'Initialized')?.status === 'True';
  const why = progress.says;
  if (!hasBegun) {
    return answer(`${runTitle} could not begin: ${why}`, {
      next: ['fix this and create a new run; this one is final'],
    });
  }
  const causes: Cause[] = [];
  for (const stage of progress.stages) {
    const failed = stage.clusters.filter(({ state }) => state === 'Failed').slice(0, MAX_CHAINS);
    for (const { cluster, message } of failed) {
      causes.push({
        sentence: `cluster "${cluster}" of stage "${stage.stage}": ${message}`,
        evidence: await clusterChain(story, cluster),
      });
    }
  }
  const others = await othersOf(story);
  return answer(`${runTitle} has failed: ${why}`, {
    causes,
    next:
      others.length > 0
        ? others.map(seeOther)
        : [
            `create a new run: clusters that have been updated (${progress.done} of ${progress.total}) stay as they are, and it passes over them`,
            ...wayBack({ run, revisions: await revisionsOf(story) }),
          ],
  });
}

const othersOf = async ({ reader, run, whichRun }: RunContext): Promise<readonly WhichRun[]> =>
  othersUnderWay(ifRead(await reader.runs()) ?? [], run).map(({ metadata: { name = '' } }) => ({ ...whichRun, name }));

async function revisionsOf({ reader }: RunContext): Promise<readonly number[] | undefined> {
  const snapshots = ifRead(await reader.resourceSnapshots());
  return snapshots && revisionsIn(snapshots);
}

// ---- it is not over

const LEADS: Partial<Readonly<Record<RunProgress['phase'], string>>> = {
  Initializing: 'cannot begin yet',
  Running: 'is under way',
  Stuck: 'is stuck',
  Stopping: 'is stopping',
  Stopped: 'is stopped',
};
/** In these phases the message of the hub says more than the first hold. */
const IN_HUBS_WORDS: readonly RunProgress['phase'][] = ['Stuck', 'Stopping', 'Stopped'];

async function ofHolds(story: RunContext): Promise<Answer> {
  const { progress, runTitle, now, reader, run, whichRun } = story;
  const causes: Cause[] = [];
  for (const entry of progress.holds.filter(isNotOver(now))) causes.push(await causeOf(story, entry));
  const [first] = causes;
  const isSilent = first?.code === 'Unreachable' && progress.phase === 'Running';
  const lead = isSilent ? undefined : LEADS[progress.phase];
  const says = IN_HUBS_WORDS.includes(progress.phase) && progress.says !== '' ? progress.says : undefined;
  const next = [
    ...(progress.phase === 'Prepared' ? [`show what it would do: flotilla plan run ${typed(whichRun)}`] : []),
    ...(await waysPast(story, progress.holds)),
  ];
  const led = (sentence: string) =>
    lead === undefined ? waitsFor(runTitle, sentence) : `${runTitle} ${lead}: ${sentence}`;
  const whole = led(says ?? first?.sentence ?? (progress.says || 'its status gives no reason'));
  if (first !== undefined) {
    const brief = says === undefined && first.brief !== undefined ? { brief: led(first.brief) } : {};
    return answer(whole, { ...brief, ...labelOfRun(story), causes, next });
  }

  // Without holds: the conditions and Events.
  const stage = progress.stages.find(({ state }) => state !== 'Done' && state !== 'Empty');
  const open = (stage?.clusters ?? [])
    .filter(({ state }) => state === 'Updating' || state === 'Removing')
    .slice(0, MAX_CHAINS);
  for (const { cluster } of open) {
    causes.push({ sentence: `cluster "${cluster}" is under way`, evidence: await clusterChain(story, cluster) });
  }
  const events = eventEvidence(ifRead(await reader.events(run)) ?? [], now);
  if (events.says.length > 0) causes.push({ sentence: 'recent Events', evidence: [events] });
  const gates = (stage?.gates ?? []).filter(
    ({ state, type }) => type === 'Approval' && (state === 'AwaitingApproval' || state === 'Rejected'),
  );
  const hasHolds = await reader.hasHolds(whichRun.family.run.kind);
  return answer(whole, {
    causes,
    next: gates.length === 0 ? [...next, HUB_RUNS] : gates.map(({ when }) => approving(story, stage, when)),
    notes: [
      hasHolds === false
        ? 'the CRD of this server has no field status.holds (it belongs to another hub, or is older): the answer comes from conditions and Events'
        : 'status.holds is empty: the answer comes from conditions and Events',
    ],
  });
}

/** The clock of the hub decides when a run is stuck. */
function labelOfRun({ progress: { phase, holds }, placement, now }: RunContext): Pick<Answer, 'label'> {
  const [first] = holds.filter(isNotOver(now));
  if (phase === 'Stuck') return { label: 'Blocked' };
  if (phase !== 'Running' || first === undefined) return {};
  const clusters = placement === undefined ? [] : progressOf(placement).clusters;
  const label = labelOf({ ...first, since: undefined }, now, clusters);
  return label === 'Waits' ? {} : { label };
}

const BROKEN: readonly string[] = ['failed', 'starting', 'diff-failed'];

/** The cluster has the revision of the run and fails with it. */
const isBroken = ({ code, facts }: HoldEntry): boolean =>
  code === 'NotAvailable' && BROKEN.includes(String(facts?.['cause']));

/**
 * The binding may report these after the hold was written, because the hub does not write a status only for changed
 * facts of a hold.
 */
const EARLY: readonly unknown[] = ['unknown', 'progressing', 'starting'];

async function withCurrentHealth({ reader }: RunContext, entry: HoldEntry): Promise<HoldEntry> {
  const { code, facts, on } = entry;
  if (code !== 'NotAvailable' || !EARLY.includes(facts?.['cause'])) return entry;
  const binding = bindingsIn(ifRead(await reader.bindings())).get(on?.name ?? '');
  const { health, why } = binding === undefined ? { health: 'unknown' } : judge(binding);
  if (['unknown', 'available', facts?.['cause']].includes(health)) return entry;
  return { ...entry, facts: { ...facts, cause: health, ...(why === undefined ? {} : { message: why }) } };
}

/** By cluster, without bindings that are being deleted. */
const bindingsIn = (bindings: readonly HubBinding[] | undefined): ReadonlyMap<string, HubBinding> =>
  new Map(
    (bindings ?? [])
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((each) => [each.spec.targetCluster, each]),
  );

/** Next steps in addition to those of the holds. */
async function waysPast(story: RunContext, holds: readonly HoldEntry[]): Promise<readonly string[]> {
  const { whichRun: which, run } = story;
  const overtaken = await overtakenBy(story);
  if (overtaken !== undefined) return insteadOfResuming(which, overtaken);
  const current = await Promise.all(holds.map((hold) => withCurrentHealth(story, hold)));
  return current.some(isBroken) ? waysOut({ which, run, revisions: await revisionsOf(story) }) : [];
}

/** Only for a stopped run; undefined = no other run or client has taken over, as far as the caller can read. */
async function overtakenBy(story: RunContext): Promise<Overtaken | undefined> {
  const { run, reader } = story;
  if (run.spec.state !== 'Stop') return undefined;
  const { resourceSnapshotIndexUsed: index, stagesStatus = [] } = run.status ?? {};
  const own = masterSnapshotName(run.spec.placementName, Number(index));
  const carried = bindingsIn(ifRead(await reader.bindings()));
  const isTrue = (cluster: StageClusterStatus, type: string) =>
    conditionOf(cluster.conditions, type)?.status === 'True';
  const taken = stagesStatus
    .flatMap(({ clusters }) => clusters)
    .filter((each) => isTrue(each, 'Started'))
    .map((each) => ({
      cluster: each.clusterName,
      carries: carried.get(each.clusterName)?.spec.resourceSnapshotName ?? own,
      isDone: isTrue(each, 'Succeeded'),
    }))
    .filter(({ carries }) => carries !== own)
    .toSorted((a, b) => Number(a.isDone) - Number(b.isDone))[0];
  const others = await othersOf(story);
  return taken === undefined && others.length === 0 ? undefined : { others, taken };
}

const approving = ({ whichRun }: RunContext, stage: StageProgress | undefined, when: 'before' | 'after'): string =>
  `approve it: ${approveCommand(whichRun, stage?.stage ?? '', when)}`;

const refOf = ({ whichRun: { family, name, namespace } }: RunContext): ObjectRef => ({
  group: family.run.group,
  kind: family.run.kind,
  name,
  namespace,
});

/** The command that resolves a hold; undefined if it would not. */
async function nextOf(story: RunContext, code: string, next: string): Promise<string | undefined> {
  if (code === 'RunNotStarted') return `start it: ${next}`;
  if (code !== 'RunStopped') return next;
  return (await overtakenBy(story)) === undefined ? `resume it: ${next}` : undefined;
}

/** With details of requests and other runs, which only runs wait for. */
async function causeOf(story: RunContext, written: HoldEntry): Promise<Cause> {
  const entry = await withCurrentHealth(story, written);
  const { next: can, ...cause } = await causeOfEntry(story, entry, refOf(story));
  const { facts = {}, on, code } = entry;
  const { stage, when } = facts;
  const isGate =
    code === 'ApprovalMissing' &&
    story.progress.stages.some((each) => each.stage === stage) &&
    (when === 'before' || when === 'after');
  const next = isGate
    ? `approve it: ${approveCommand(story.whichRun, String(stage), when)}`
    : can && (await nextOf(story, code, can));
  return {
    ...cause,
    evidence: [...(await said(story, on)), ...cause.evidence],
    ...(next === undefined ? {} : { next }),
  };
}

async function said(
  { whichRun: { family, name }, reader, now }: RunContext,
  on: HoldEntry['on'],
): Promise<readonly Evidence[]> {
  // The name is from a status, where any client with write access may have written anything.
  if (on === undefined || !NAME.test(on.name)) return [];
  if (on.kind === family.approvalRequest.kind) {
    const request = await reader.approvalRequest(on.name);
    return 'value' in request ? [requestEvidence(on.kind, on.name, request.value, now)] : [];
  }
  if (on.kind !== family.run.kind || on.name === name) return [];
  const other = await reader.run(on.name);
  if (!('value' in other)) return [];
  const about = `${on.kind} "${on.name}"`;
  if (other.value === undefined) return [{ about, says: ['does not exist any more'] }];
  const { status, spec } = other.value;
  const far = conditionOf(status?.conditions, 'Progressing') ?? conditionOf(status?.conditions, 'Initialized');
  const says = [
    `follows strategy "${spec.stagedRolloutStrategyName}"`,
    ...(far === undefined ? [] : [sayCondition({ ...far, message: withoutMarker(far.message) }, now)]),
  ];
  return [{ about, says }];
}

function requestEvidence(kind: string, name: string, request: ApprovalRequest | undefined, now: number): Evidence {
  const about = `${kind} "${name}"`;
  if (request === undefined) return { about, says: ['does not exist: the hub requests it again'] };
  const { metadata, status } = request;
  const conditions = ['Approved', 'ApprovalAccepted'].flatMap((type) => conditionOf(status?.conditions, type) ?? []);
  return {
    about,
    says: [
      `requested ${ageText(Date.parse(metadata.creationTimestamp ?? ''), now)} ago`,
      ...(status?.approval === undefined ? [] : [`"${status.approval.user}" approved it at ${status.approval.time}`]),
      ...conditions.map((each) => sayCondition(each, now)),
    ],
  };
}

// ---- one cluster

async function ofClusterInRun(story: RunContext, cluster: string): Promise<Answer> {
  const { progress, runTitle, now } = story;
  const stage = progress.stages.find(({ clusters }) => clusters.some((each) => each.cluster === cluster));
  const found = stage?.clusters.find((each) => each.cluster === cluster);
  if (stage === undefined || found === undefined) {
    if (progress.stages.length === 0) return ofRun(story);
    const all = progress.stages.flatMap(({ clusters }) => clusters.map((each) => each.cluster));
    const more = all.length > MAX_CLUSTERS ? ` and ${all.length - MAX_CLUSTERS} more` : '';
    throw new UserError(
      'NotFound',
      `cluster "${cluster}" is in no stage of ${runTitle} (${all.length === 0 ? 'there are none' : `known: ${all.slice(0, MAX_CLUSTERS).join(', ')}${more}`})`,
    );
  }
  const where = stage.removes ? `removal from cluster "${cluster}"` : `cluster "${cluster}" of stage "${stage.stage}"`;
  if (found.state === 'Removed') {
    return answer(`the ${where} is done`, { isWaiting: false });
  }
  if (found.state === 'Done') {
    return answer(`${where} is done: revision ${progress.revision} is available`, { isWaiting: false });
  }
  if (found.state === 'Skipped' || found.state === 'Failed') {
    return answer(`${where}: ${found.message}`, {
      causes: [{ sentence: 'known facts', evidence: await clusterChain(story, cluster) }],
      next:
        found.state === 'Skipped'
          ? ['make it reachable again, then create a new run']
          : ['fix this, then create a new run'],
    });
  }
  if (progress.isOver) return answer(`${where} was not reached: ${(await ofRun(story)).sentence}`);
  const holds = progress.holds.filter(isNotOver(now));
  // A hold names at most twenty clusters: the others wait for the same as the rest of their stage.
  const isLater = stage.state === 'Pending';
  const entry =
    holds.find(({ clusters = [] }) => clusters.includes(cluster)) ??
    holds.find(({ code }) => code === (isLater ? 'EarlierStage' : 'ConcurrencyUsed')) ??
    holds[0];
  if (entry === undefined) return ofRun(story);
  const cause = await causeOf(story, entry);
  // The holds of the stage in progress explain more than that this stage has not started.
  const [front] = holds;
  const rest = isLater && front !== undefined && front !== entry ? [await causeOf(story, front)] : [];
  const own = await clusterChain(story, cluster);
  return answer(waitsFor(where, cause.sentence), {
    ...(cause.brief === undefined ? {} : { brief: waitsFor(where, cause.brief) }),
    causes: [{ ...cause, evidence: [...cause.evidence, ...beside(own)] }, ...rest],
    next: await waysPast(story, [entry]),
  });
}
