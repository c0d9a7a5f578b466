import type { StagedUpdateRun } from '../../api/staged-update-run.ts';
import { byText } from '../../base/compare.ts';
import type { ClusterProgress } from '../progress/placement-progress.ts';
import { phaseOf } from '../progress/run-progress.ts';
import { lastRun, openRuns, revisionsIn } from '../progress/runs-of-placement.ts';
import { ifRead } from '../reader.ts';
import { titleOfRun, typed, type WhichRun } from '../which-run.ts';
import { type Answer, answer, causeOfStage, MAX_CLUSTERS } from './answer.ts';
import { type Looking, MAX_CHAINS } from './evidence-chain.ts';
import { answerAboutRun } from './explain-run.ts';
import { beside, type Cause } from './explanation.ts';
import { howToMakeOne } from './run-advice.ts';

const ONLY_RUNS = 'only a run updates a placement with strategy External';

const whichOf = ({ which }: Looking, { metadata: { name = '' } }: StagedUpdateRun): WhichRun => ({ ...which, name });

const told = (looking: Looking, run: StagedUpdateRun, cluster?: string): Promise<Answer> => {
  const { placement, reader, now } = looking;
  return answerAboutRun({ which: whichOf(looking, run), run, placement, reader, now }, cluster);
};

const moreAbout = (which: WhichRun): string => `more about ${titleOfRun(which)}: flotilla why run/${typed(which)}`;

// ---- the placement

export async function ofExternal(looking: Looking): Promise<Answer> {
  const { title, reader } = looking;
  const runs = ifRead(await reader.runs());
  if (runs === undefined) {
    const { sentence, next } = unread(looking);
    const causes = [...(await revisions(looking)), ...(await troubles(looking))];
    return answer(`${title} is not complete: ${sentence}`, { causes, next });
  }
  const [first, ...others] = openRuns(runs);
  if (first === undefined) return ofNoRun(looking, lastRun(runs));
  const about = await told(looking, first);
  const alongside: Cause[] = [];
  for (const run of others.slice(0, MAX_CHAINS)) {
    alongside.push({ sentence: (await told(looking, run)).sentence, evidence: [] });
  }
  return {
    ...about,
    sentence: `${title} is not complete: ${about.sentence}`,
    ...(about.brief === undefined ? {} : { brief: `${title} is not complete: ${about.brief}` }),
    causes: [...about.causes, ...alongside, ...(await revisions(looking))],
    next: [...about.next, ...[first, ...others].map((run) => moreAbout(whichOf(looking, run)))],
  };
}

type Way = Pick<Answer, 'sentence' | 'next'>;

const unread = ({ which: { family } }: Looking): Way => ({
  sentence: `${ONLY_RUNS}, and its runs could not be read`,
  next: [`ask a user who may list ${family.run.plural}`],
});

const noRun = ({ which }: Looking, last: StagedUpdateRun | undefined): Way => ({
  sentence: `no run of it is under way, and ${ONLY_RUNS}`,
  next: howToMakeOne(which, last?.spec.stagedRolloutStrategyName),
});

async function ofNoRun(looking: Looking, last: StagedUpdateRun | undefined): Promise<Answer> {
  const { title, progress } = looking;
  const { sentence, next } = noRun(looking, last);
  const broken = await troubles(looking);
  const carried = await revisions(looking);
  const [first] = broken;
  // All clusters have the revision, so a missing run is not the cause.
  if (first !== undefined && progress.revision !== '' && progress.clusters.every(({ stage }) => stage !== 'Waiting')) {
    return answer(`${title} is not complete: ${first.sentence}`, { causes: [...broken, ...carried], next });
  }
  const failed: Cause[] = [];
  if (last !== undefined && phaseOf(last) === 'Failed') {
    const { sentence: how, causes } = await told(looking, last);
    failed.push({ sentence: how, evidence: beside(causes.flatMap(({ evidence }) => evidence)) });
  }
  return answer(`${title} is not complete: ${sentence}`, { causes: [...failed, ...carried, ...broken], next });
}

/** The newest revision, and those of the clusters. */
async function revisions({ progress, reader }: Looking): Promise<readonly Cause[]> {
  const snapshots = ifRead(await reader.resourceSnapshots());
  const newest = snapshots && revisionsIn(snapshots).at(-1);
  const picked = progress.clusters.filter(({ stage }) => stage !== 'NotPicked');
  const carried = [...new Set(picked.map(({ revision }) => revision))].sort(byText);
  const says = carried.map((revision) =>
    carrying(
      revision,
      picked.filter((each) => each.revision === revision),
    ),
  );
  const sentence =
    snapshots === undefined
      ? 'what clusters carry'
      : newest === undefined
        ? 'there is no revision yet'
        : `the newest revision is ${newest}`;
  return says.length === 0 ? [] : [{ sentence, evidence: [{ about: 'Clusters', says }] }];
}

function carrying(revision: string, clusters: readonly ClusterProgress[]): string {
  const names = clusters.slice(0, MAX_CLUSTERS).map(({ cluster }) => cluster);
  const more = clusters.length > names.length ? ` and ${clusters.length - names.length} more` : '';
  const who = `${clusters.length} ${clusters.length === 1 ? 'carries' : 'carry'}`;
  return `${who} ${revision === '' ? 'nothing yet' : `revision ${revision}`}: ${names.join(', ')}${more}`;
}

/** Clusters that got a revision which does not work there. */
async function troubles(looking: Looking): Promise<readonly Cause[]> {
  const open = looking.progress.clusters.filter(
    ({ isDone, stage, cluster }) => !isDone && cluster !== '' && stage !== 'Waiting' && stage !== 'NotPicked',
  );
  const causes: Cause[] = [];
  for (const cluster of open.slice(0, MAX_CHAINS)) causes.push(await troubleOf(looking, cluster));
  return causes;
}

/** A fix of the placed objects alone is not rolled out: it needs a run. */
async function troubleOf(looking: Looking, cluster: ClusterProgress): Promise<Cause> {
  const { next: _next, ...cause } = await causeOfStage(looking, cluster);
  return {
    ...cause,
    next: `fix the failure on cluster "${cluster.cluster}"; a fix of the placed objects needs a new run`,
  };
}

// ---- one cluster

/** `state`: the entry of the placement's status about the cluster, which is not done. */
export async function ofExternalCluster(looking: Looking, state: ClusterProgress): Promise<Answer> {
  const { cluster } = state;
  const runs = ifRead(await looking.reader.runs());
  const run = openRuns(runs ?? []).find(({ status }) =>
    status?.stagesStatus?.some(({ clusters }) => clusters.some(({ clusterName }) => clusterName === cluster)),
  );
  if (run !== undefined) {
    const about = await told(looking, run, cluster);
    return { ...about, next: [...about.next, moreAbout(whichOf(looking, run))] };
  }
  const cause = await troubleOf(looking, state);
  if (state.stage !== 'Waiting') return answer(cause.sentence, { causes: [cause] });
  const { next: _next, ...waits } = cause;
  const { sentence, next } = runs === undefined ? unread(looking) : noRun(looking, lastRun(runs));
  return answer(`cluster "${cluster}" waits: ${sentence}`, { causes: [waits], next });
}

// ---- notes if no hold exists

const noRunNotes = (looking: Looking, last: StagedUpdateRun | undefined): readonly string[] => [
  `a change of the placed objects waits for a run, because ${ONLY_RUNS}`,
  ...howToMakeOne(looking.which, last?.spec.stagedRolloutStrategyName).slice(0, 1),
];

async function newer({ progress, reader }: Looking): Promise<readonly string[]> {
  const newest = revisionsIn(ifRead(await reader.resourceSnapshots()) ?? []).at(-1);
  return newest === undefined || progress.revision === '' || newest <= Number(progress.revision)
    ? []
    : [`the hub is ahead of all clusters: the newest revision is ${newest}, and they have ${progress.revision}`];
}

/** A change of the placed objects waits for a run, even if everything is up to date. */
export async function besideExternal(looking: Looking): Promise<readonly string[]> {
  const runs = ifRead(await looking.reader.runs());
  if (runs === undefined) return [];
  const open = openRuns(runs);
  if (open.length === 0) return [...(await newer(looking)), ...noRunNotes(looking, lastRun(runs))];
  const notes: string[] = [];
  for (const run of open.slice(0, MAX_CHAINS)) {
    notes.push(`${(await told(looking, run)).sentence} (flotilla why run/${typed(whichOf(looking, run))})`);
  }
  return notes;
}
