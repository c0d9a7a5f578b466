// A Hold explains why an object does not progress: what waits, which object blocks it, numbers, and the next step. One
// table maps codes to sentences, for conditions, Events, logs, the CLI and the dashboard.
import { type ObjectRef, refText } from './object.ts';

/** All codes: a new reason to wait is a new row here. */
export type HoldCode =
  | 'AgentNotConnected'
  | 'ApprovalMissing'
  | 'BatchGate'
  | 'BudgetUsed'
  | 'BundleWindow'
  | 'CleaningUp'
  | 'ConcurrencyUsed'
  | 'DependencyNotReady'
  | 'EarlierPartition'
  | 'EarlierStage'
  | 'Frozen'
  | 'Leaving'
  | 'MaxNew'
  | 'NamespaceForeign'
  | 'NamespaceTerminating'
  | 'NoPartition'
  | 'NotAvailable'
  | 'NotFound'
  | 'OtherRun'
  | 'OverridePending'
  | 'PartitionWindow'
  | 'Paused'
  | 'PredecessorLeaving'
  | 'RemovalPending'
  | 'RenderFailed'
  | 'RevisionPending'
  | 'RunNotStarted'
  | 'RunStopped'
  | 'SchedulingPending'
  | 'SelectionPending'
  | 'SnapshotTooLarge'
  | 'SpecInvalid'
  | 'StepRefused'
  | 'SurgeUsed'
  | 'TimedWait'
  | 'Unreachable'
  | 'UntrackedPeriod'
  | 'VariantPending';

/** Codes that block a whole placement until a user changes something. */
export const BLOCKING: readonly string[] = [
  'SelectionPending',
  'SnapshotTooLarge',
  'SpecInvalid',
  'StepRefused',
] satisfies readonly HoldCode[];

export interface Hold {
  readonly code: HoldCode;
  readonly subject: ObjectRef;
  readonly on?: ObjectRef;
  readonly facts: Readonly<Record<string, string | number>>;
  readonly since?: number;
  readonly until?: number;
  /** The next step for a user. */
  readonly next?: string;
}

type Facts = Hold['facts'];

const SENTENCES: Readonly<Record<HoldCode, (facts: Facts, on: string) => string>> = {
  AgentNotConnected: (_facts, on) => `the member agent of ${on} has not connected yet`,
  ApprovalMissing: (facts, on) =>
    facts['hint'] === undefined ? `${on} is not approved yet` : `${on} is not approved yet: ${facts['hint']}`,
  BatchGate: (facts, on) =>
    `the next batch of partition "${facts['partition'] ?? '?'}" waits for ${on} (${causeIn(facts)}): ${facts['unavailable'] ?? '?'} clusters are unavailable, fewer than ${facts['maxUnavailable'] ?? '?'} are required`,
  BudgetUsed: (facts, on) =>
    `${on} blocks the rollout (${causeIn(facts)}): ${clustersAre(facts['ready'])} available, at least ${facts['minAvailable'] ?? '?'} ${facts['minAvailable'] === 1 ? 'is' : 'are'} required${limitIn(facts)}`,
  BundleWindow: (facts, on) =>
    `blocked by ${on} (${causeIn(facts)}): at most ${facts['maxUnavailable'] ?? '?'} clusters may be unavailable over all partitions`,
  CleaningUp: (facts, on) =>
    `cluster "${facts['cluster'] ?? '?'}" is still cleaning up ${facts['works'] ?? '?'} Works, e.g. ${on}`,
  ConcurrencyUsed: (facts, on) =>
    `stage "${facts['stage'] ?? '?'}" updates at most ${clusters(facts['maxConcurrency'])} at a time (maxConcurrency), and ${clustersAre(facts['inFlight'])} being updated; the first is ${on} (${causeIn(facts)})`,
  DependencyNotReady: (facts, on) =>
    facts['state'] === undefined
      ? `it depends on ${on}, which is not placed on this cluster`
      : `it depends on ${on}, which is ${facts['state']} on this cluster: ${facts['accepted'] ?? 'Ready'} is required`,
  EarlierPartition: (facts, on) =>
    `partition "${facts['partition'] ?? '?'}" is not ready: ${facts['notReady'] ?? '?'} of ${facts['size'] ?? '?'} clusters are not ready, at most ${facts['maxUnavailable'] ?? '?'} may be (maxUnavailable); the first is ${on} (${causeIn(facts)})`,
  EarlierStage: (facts, on) => `${on} is still in stage "${facts['stage'] ?? '?'}"`,
  Frozen: (facts, on) =>
    `frozen by ${on}${facts['by'] === undefined ? '' : ` (by "${facts['by']}", not verified)`}: ${facts['reason'] ?? 'no reason given'}`,
  Leaving: (facts, on) =>
    `${on} is leaving: ${remaining(facts)}${facts['agent'] === undefined ? '' : `; ${facts['agent']}, so the member ${facts['forcedAt'] === undefined ? 'is removed now' : `will be removed at ${facts['forcedAt']} regardless`}`}`,
  MaxNew: (facts, on) =>
    facts['maxNew'] === 0
      ? 'maxNew is 0, so no cluster may start'
      : `at most ${facts['maxNew'] ?? '?'} clusters start at a time; ${on} is starting`,
  NamespaceForeign: (facts, on) => `${on} belongs to ${facts['owner'] ?? 'another owner'}`,
  NamespaceTerminating: (facts, on) =>
    `${on} is still terminating${facts['message'] === undefined ? '' : `: ${facts['message']}`}`,
  NoPartition: (_facts, on) => `${on} is in no partition, so it is not updated`,
  NotAvailable: (facts, on) => `${on} is not available yet (${causeIn(facts)})`,
  NotFound: (_facts, on) => `${on} does not exist`,
  OverridePending: (_facts, on) => `no snapshot of ${on} has been taken yet`,
  OtherRun: (facts, on) => rivalSentence(on, facts['state'] === 'Stop'),
  PartitionWindow: (facts, on) =>
    `blocked by ${on} (${causeIn(facts)}) in partition "${facts['partition'] ?? '?'}": ${unavailableIn(facts)}`,
  Paused: (facts, on) =>
    facts['cluster'] === undefined ? `${on} is paused` : `cluster "${facts['cluster']}" is paused`,
  PredecessorLeaving: (facts, on) =>
    `the former ${on} is still being removed from cluster "${facts['cluster'] ?? '?'}"`,
  RemovalPending: (facts, on) =>
    facts['cluster'] === undefined
      ? `${on} has not finished removing resources that are no longer placed there${facts['cause'] === undefined ? '' : ` (${causeWords(facts)})`}`
      : `${on} is still being removed from cluster "${facts['cluster']}"`,
  RenderFailed: (facts, on) => `the content for ${on} cannot be rendered: ${facts['message'] ?? 'unknown cause'}`,
  RevisionPending: (facts, on) =>
    facts['gitRepo'] === undefined
      ? `the objects that ${on} selects have changed; the hub is still collecting changes before it creates a revision`
      : `GitRepo "${facts['gitRepo']}" asks for another strategy or other targets of ${on}; the hub has not read the content that belongs to them yet`,
  RunNotStarted: (_facts, on) => `${on} is prepared and has not been started`,
  RunStopped: (_facts, on) => `${on} is stopped`,
  SchedulingPending: (facts, on) =>
    `${on} is not scheduled: ${facts['message'] ?? 'the scheduler has not decided yet'}`,
  SelectionPending: (facts, on) =>
    `the selection of ${on} is unknown: ${facts['kind'] ?? 'a kind'} cannot be read: ${facts['message'] ?? 'no answer'}`,
  SnapshotTooLarge: (facts, on) =>
    `${on} selects an object that is too large: ${facts['largest'] ?? 'one of them'} has ${facts['largestBytes'] ?? facts['bytes'] ?? '?'} bytes, at most ${facts['limit'] ?? '?'} are allowed`,
  SpecInvalid: (facts, on) => `${on} cannot work: ${facts['message'] ?? 'its spec is invalid'}`,
  StepRefused: (facts, on) =>
    `${on} could not be written: ${facts['message'] ?? 'refused'}${facts['largest'] === undefined ? '' : `; the largest object is ${facts['largest']} with ${facts['largestBytes'] ?? '?'} bytes`}`,
  SurgeUsed: (facts, on) =>
    `${on} must make room first (${causeIn(facts)}): at most ${facts['maxSurge'] ?? '?'} clusters beyond ${facts['target'] ?? '?'}`,
  TimedWait: (facts, on) =>
    `stage "${facts['stage'] ?? '?'}" of ${on} waits ${facts['waitTime'] ?? 'some time'} after its last cluster`,
  Unreachable: (facts, on) =>
    facts['seconds'] === undefined
      ? `${on} is unreachable`
      : `no heartbeat of ${on} was seen for ${facts['seconds']} s`,
  UntrackedPeriod: (facts, on) =>
    `the availability of ${on} cannot be tracked; it counts as available after ${facts['seconds'] ?? '?'} s`,
  VariantPending: (_facts, on) => `the content for ${on} has not been rendered yet`,
};

export const HOLD_CODES = Object.keys(SENTENCES) as readonly HoldCode[];

const clustersAre = (count: string | number | undefined): string =>
  count === 1 ? '1 cluster is' : `${count ?? '?'} clusters are`;

const clusters = (count: string | number | undefined): string =>
  count === 1 ? '1 cluster' : `${count ?? '?'} clusters`;

const unavailableIn = (facts: Facts): string =>
  `${facts['unavailable'] ?? '?'} of ${facts['size'] ?? '?'} clusters are unavailable, at most ${facts['maxUnavailable'] ?? '?'} may be (maxUnavailable)`;

const limitIn = ({ maxUnavailable }: Facts): string =>
  maxUnavailable === undefined ? '' : ` (maxUnavailable: ${maxUnavailable})`;

const remaining = ({ works = 0 }: Facts): string => (works === 1 ? '1 work remains' : `${works} works remain`);

/** Facts contain causes as codes; messages contain these words. */
const CAUSES: Readonly<Record<string, string>> = {
  available: 'it still runs its copy',
  diffed: 'it still has its report',
  'diff-failed': 'the comparison failed',
  progressing: 'in progress',
  starting: 'starting',
  unknown: 'it has not reported yet',
  untracked: 'its availability cannot be tracked',
  waiting: 'not updated yet',
  unreachable: 'unreachable',
  moving: 'updating now',
};

function causeWords({ cause = 'not ready' }: Facts): string {
  const code = String(cause);
  return Object.hasOwn(CAUSES, code) ? (CAUSES[code] as string) : code;
}

const causeIn = (facts: Facts): string =>
  [causeWords(facts), ...(facts['message'] === undefined ? [] : [facts['message']])].join(': ');

/** `on`: a run that blocks another one. */
export function rivalSentence(on: string, isStopped: boolean): string {
  return `${on} is ${isStopped ? 'stopped half-way' : 'under way'} on the same placement with another strategy`;
}

export function sentenceOf(hold: Hold): string {
  const on = refText(hold.on ?? hold.subject);
  // A newer hub, or any client with write access, may have written an unknown code.
  return Object.hasOwn(SENTENCES, hold.code) ? SENTENCES[hold.code](hold.facts, on) : `blocked by ${on}: ${hold.code}`;
}
