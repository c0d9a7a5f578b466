// The parts of an answer: a cause from a hold, a cause from the progress of a cluster.
import { type Hold, sentenceOf } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { type ObjectRef, refText } from '../../api/object.ts';
import { holdOf } from '../../hub/status/holds-summary.ts';
import { namedOnce, plainText, shortened } from '../plain-text.ts';
import type { ClusterProgress, Progress } from '../progress/placement-progress.ts';
import { type Alike, isItself, ofAll } from './alike.ts';
import { type Chain, chainFrom, clusterChain, isTold } from './evidence-chain.ts';
import { beside, type Cause, type Evidence, type Explanation } from './explanation.ts';

export interface Answer extends Omit<Explanation, 'about'> {
  /** The sentence without the detail of its first cause. */
  readonly brief?: string;
}

export const MAX_CLUSTERS = 20;
export const HUB_RUNS = 'check that the hub controllers are running (`flotilla up` or `flotilla hub`)';

export const answer = (sentence: string, more: Partial<Answer> = {}): Answer => ({
  sentence,
  isWaiting: true,
  causes: [],
  next: [],
  notes: [],
  ...more,
});

/** A sentence about the object itself needs no second subject. */
export const waitsFor = (who: string, sentence: string): string =>
  sentence.startsWith(`${who} `) ? sentence : `${who} waits: ${sentence}`;

interface Conclusion {
  readonly notes: readonly string[];
  /** Next steps for objects that were refused or do not work. */
  readonly advice?: readonly string[];
}

/** More would not be read. */
const MAX_ADVICE = 5;

/** All next steps in one list without duplicates: those for one object before general ones. */
export function concluded(about: string, { brief, ...found }: Answer, { notes, advice = [] }: Conclusion): Explanation {
  const shown = found.causes.flatMap(({ evidence }) => evidence.flatMap(({ next = [] }) => next));
  const root = found.isWaiting ? rootOf(found.causes[0]) : undefined;
  const general = found.causes.flatMap(({ next = [] }) => next);
  return {
    about,
    ...found,
    ...(root === undefined ? {} : { root, sentence: brief ?? found.sentence }),
    next: [...new Set([...shown.slice(0, MAX_ADVICE), ...advice, ...general, ...found.next])],
    notes: [...found.notes, ...notes],
  };
}

const LONGEST_ROOT = 200;

/** A member may report anything, of any length. */
function rootOf(cause: Cause | undefined): string | undefined {
  const end = cause?.evidence.find(({ isRoot }) => isRoot);
  const root = end === undefined ? cause?.detail : `${end.about}: ${end.says[0]}`;
  return root && shortened(namedOnce(plainText(root)), LONGEST_ROOT);
}

export function outdatedNote({ outdated }: Pick<Progress, 'outdated'>): readonly string[] {
  if (outdated === undefined || outdated.observed === 0) return [];
  const { generation, observed } = outdated;
  return [`generation ${generation} has not been processed yet; showing generation ${observed}`];
}

/** With these holds a failing workload is reported but is not the reason. */
const NOT_FOR_THAT: readonly Hold['code'][] = ['RemovalPending', 'PredecessorLeaving', 'Unreachable'];
const isForThat = ({ code, facts }: Hold): boolean => !NOT_FOR_THAT.includes(code) && facts['cause'] !== 'unreachable';

export const causeOfHold = async (chain: Chain, hold: Hold): Promise<Cause> => ({
  code: hold.code,
  sentence: sentenceOf(hold),
  ...detailOf(hold),
  ...(hold.since === undefined ? {} : { since: hold.since }),
  ...(hold.until === undefined ? {} : { until: hold.until }),
  // The next step for an object is printed with its chain.
  ...(hold.next === undefined || isTold(chain, hold.on) ? {} : { next: hold.next }),
  evidence: ofReason(isForThat(hold), await chainFrom(chain, hold.on ?? hold.subject)),
});

/** Only for holds whose cause has a message: others cannot be split. */
function detailOf(hold: Hold): Pick<Cause, 'brief' | 'detail'> {
  const { message, ...facts } = hold.facts;
  const brief = sentenceOf({ ...hold, facts });
  if (message === undefined || facts['cause'] === undefined || brief === sentenceOf(hold)) return {};
  return { brief, detail: `${refText(hold.on ?? hold.subject)}: ${message}` };
}

const ofReason = (isReason: boolean, evidence: readonly Evidence[]): readonly Evidence[] =>
  isReason ? evidence : beside(evidence);

/** The cause of an entry in the status of `subject`. */
export async function causeOfEntry(chain: Chain, entry: HoldEntry, subject: ObjectRef): Promise<Cause> {
  const { count = 0, clusters = [] } = entry;
  return {
    ...(await causeOfHold(chain, holdOf(entry, subject))),
    ...(count === 0 || isItself(entry) ? {} : { waiting: { count, clusters } }),
  };
}

/** Entries that say the same about one cluster each: the evidence of the first stands for all. */
export async function causeOfAlike(chain: Chain, entries: Alike, subject: ObjectRef): Promise<Cause> {
  const [first, ...others] = entries;
  const cause = await causeOfEntry(chain, first, subject);
  if (others.length === 0) return cause;
  const names = entries.map(({ on }) => on?.name ?? '');
  const since = entries.map((each) => Date.parse(each.since ?? '')).filter((each) => !Number.isNaN(each));
  const { next, evidence, brief, detail } = cause;
  const elsewhere = listed(names.slice(1));
  return {
    ...cause,
    sentence: ofAll(cause.sentence, names),
    ...(brief === undefined ? {} : { brief: ofAll(brief, names) }),
    ...(detail === undefined ? {} : { detail: ofAll(detail, names) }),
    ...(since.length === 0 ? {} : { since: Math.min(...since) }),
    ...(next === undefined ? {} : { next: ofAll(next, names) }),
    evidence:
      evidence.length === 0
        ? []
        : [...evidence.map((each) => elsewhereToo(each, elsewhere)), { about: `the same for ${elsewhere}`, says: [] }],
  };
}

/** The next step for the first cluster was derived only there. */
const elsewhereToo = (evidence: Evidence, elsewhere: string): Evidence =>
  evidence.next === undefined ? evidence : { ...evidence, next: `${evidence.next} (also on ${elsewhere})` };

const listed = (names: readonly string[]): string => {
  const more = names.length - MAX_CLUSTERS;
  return `${names.slice(0, MAX_CLUSTERS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** Whether the hold has not ended by time: no controller writes a status for that alone. */
export const isNotOver =
  (now: number) =>
  ({ until }: HoldEntry): boolean =>
    until === undefined || Date.parse(until) > now;

export async function causeOfStage(chain: Chain, { cluster, stage, message, since }: ClusterProgress): Promise<Cause> {
  const next = nextFor(stage, cluster);
  return {
    sentence: `cluster "${cluster}" is ${stage}${message === '' ? '' : `: ${message}`}`,
    since,
    evidence: ofReason(stage !== 'Leaving' && stage !== 'Waiting', await clusterChain(chain, cluster)),
    next,
  };
}

function nextFor(stage: ClusterProgress['stage'], cluster: string): string | undefined {
  if (stage === 'ApplyFailed' || stage === 'NotAvailable' || stage === 'OverrideFailed' || stage === 'CompareFailed') {
    return `fix the failure on cluster "${cluster}" (a new revision goes there first)`;
  }
  return stage === 'Applying' || stage === 'Applied' || stage === 'Comparing'
    ? `wait for cluster "${cluster}"`
    : undefined;
}
