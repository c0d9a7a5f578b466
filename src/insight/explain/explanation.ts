// The explanation of why a placement, or one cluster of it, does not progress, and the links of the chain behind it.
// Pure.
import type { Condition } from '../../api/conditions.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { labels } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { withPlaced } from '../../api/selected-resource.ts';
import type { Work } from '../../api/work.ts';
import { ageText, shortDuration } from '../../base/age.ts';
import type { HubBinding } from '../../hub/placement-sources.ts';
import type { Label } from '../progress/stuck.ts';

export interface Explanation {
  /** `ClusterResourcePlacement "web"` */
  readonly about: string;
  readonly isWaiting: boolean;
  readonly sentence: string;
  /** The root cause in one line: the end of the chain of evidence, else the message of the hold. */
  readonly root?: string;
  /** Whether the rollout makes progress. */
  readonly label?: Label;
  /** Since when this is so, epoch ms. At first, only this distinguishes slow from broken. */
  readonly since?: number;
  readonly causes: readonly Cause[];
  /** Next steps for the user. */
  readonly next: readonly string[];
  /** What could not be read, and the source of the answer if it is not the holds. */
  readonly notes: readonly string[];
}

export interface Cause {
  /** The code of the Hold; absent if the cause comes from conditions. */
  readonly code?: string;
  readonly sentence: string;
  /** The sentence without its `detail`, to print first. */
  readonly brief?: string;
  readonly detail?: string;
  /** Epoch ms. */
  readonly since?: number;
  readonly until?: number;
  readonly waiting?: { readonly count: number; readonly clusters: readonly string[] };
  readonly evidence: readonly Evidence[];
  readonly next?: string;
}

/** The findings about one object. */
export interface Evidence {
  readonly about: string;
  readonly says: readonly string[];
  /** The next step for this object, if the general one does not apply. */
  readonly next?: string;
  /** The member itself reports the problem here: the chain ends. */
  readonly isRoot?: true;
}

/** The answer in one line, including the root cause. */
export const wholeSentence = ({ sentence, root }: Pick<Explanation, 'sentence' | 'root'>): string =>
  root === undefined ? sentence : `${sentence}; ${root}`;

/** Evidence next to a sentence about something else: not the root cause. */
export const beside = (evidence: readonly Evidence[]): readonly Evidence[] =>
  evidence.map(({ isRoot: _isRoot, ...each }) => each);

const MAX_OBJECTS = 5;

export const nameOf = ({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string =>
  `"${namespace === undefined || namespace === '' ? '' : `${namespace}/`}${name}"`;

/** `said`: messages that are already printed next to it. */
export const sayCondition = (
  { type, status, reason, message, lastTransitionTime }: Condition,
  now: number,
  said?: ReadonlySet<string>,
): string =>
  `${type} ${status} (${reason}), for ${ageText(Date.parse(lastTransitionTime), now)}${message === '' || said?.has(message) ? '' : `: ${message}`}`;

// ---- MemberCluster

/**
 * The message of a leaving member after its name, including the latest time until which the hub waits if it is
 * unreachable.
 */
export function leavingText(member: MemberCluster | undefined, cluster: string): string | undefined {
  if (member?.metadata.deletionTimestamp === undefined) return undefined;
  const said = conditionOf(member.status?.conditions, 'ReadyToJoin');
  const words = said?.status === 'False' ? said.message.replace(`MemberCluster "${cluster}" `, '') : '';
  return words || 'is leaving the fleet';
}

export function memberEvidence(member: MemberCluster | undefined, cluster: string, now: number): Evidence {
  const about = `MemberCluster "${cluster}"`;
  if (member === undefined) return { about, says: ['does not exist any more'] };
  const { conditions, agentStatus = [] } = member.status ?? {};
  const beat = agentStatus.find(({ type }) => type === 'MemberAgent')?.lastReceivedHeartbeat;
  const told = ['Joined', 'Healthy'].flatMap((type) => conditionOf(conditions, type) ?? []);
  const leavingWords = leavingText(member, cluster);
  const bad = told.filter(({ status }) => status !== 'True');
  return {
    about,
    says: [
      ...(leavingWords === undefined ? [] : [leavingWords]),
      ...bad.map((each) => sayCondition(each, now)),
      ...(bad.length === 0 && told.length === 2 ? ['joined and healthy'] : []),
      beat === undefined ? 'no heartbeat was ever received' : `last heartbeat ${ageText(Date.parse(beat), now)} ago`,
    ],
  };
}

// ---- binding

const STEPS = ['RolloutStarted', 'Overridden', 'WorkSynchronized', 'Applied', 'Available', 'DiffReported'];

export function bindingEvidence(kind: string, binding: HubBinding, now: number): Evidence {
  const { metadata, spec, conditions, failedPlacements = [] } = binding;
  const fresh = STEPS.flatMap((type) => conditionOf(conditions, type) ?? []).filter(
    ({ observedGeneration }) => observedGeneration === metadata.generation,
  );
  const open = fresh.filter(({ status }) => status !== 'True');
  const said = new Set(failedPlacements.map(({ condition }) => condition.message));
  return {
    about: `${kind} ${nameOf(metadata)}`,
    says: [
      spec.resourceSnapshotName === '' ? 'is bound to no revision yet' : `is bound to ${spec.resourceSnapshotName}`,
      ...(spec.state === 'Bound' ? [] : [`is ${spec.state}`]),
      ...deletion(metadata, now),
      ...open.map((each) => sayCondition(each, now, said)),
      ...(fresh.length === 0 ? ['nothing is reported about its current generation yet'] : []),
      ...listed(failedPlacements, (each) => sayFailed(each, now)),
    ],
  };
}

/** An object and its problem, with its name only once. */
export function sayFailed(failed: NonNullable<HubBinding['failedPlacements']>[number], now: number): string {
  return withPlaced(failed, sayCondition(failed.condition, now));
}

const deletion = ({ deletionTimestamp, finalizers = [] }: ObjectMeta, now: number): readonly string[] => {
  if (deletionTimestamp === undefined) return [];
  const held = finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`;
  return [`has been terminating for ${ageText(Date.parse(deletionTimestamp), now)}${held}`];
};

function listed<T>(items: readonly T[], say: (item: T) => string): readonly string[] {
  const more = items.length - MAX_OBJECTS;
  return [...items.slice(0, MAX_OBJECTS).map(say), ...(more > 0 ? [`and ${more} more`] : [])];
}

export const objectName = ({
  kind,
  namespace,
  name,
}: {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}): string => `${kind} ${nameOf({ namespace, name })}`;

// ---- Work

export function workEvidence({ metadata, spec, status }: Work, now: number, said?: ReadonlySet<string>): Evidence {
  const open = (status?.conditions ?? []).filter((each) => each.status !== 'True');
  const manifests = (status?.manifestConditions ?? []).flatMap((each) => {
    const bad = each.conditions.find(({ status: is }) => is === 'False');
    return bad === undefined ? [] : [{ each, bad }];
  });
  const isStale = (status?.conditions ?? []).some(
    ({ observedGeneration }) => (observedGeneration ?? 0) < (metadata.generation ?? 0),
  );
  const count = spec?.workload?.manifests?.length ?? 0;
  return {
    about: `Work ${nameOf(metadata)}`,
    says: [
      `contains ${count} ${count === 1 ? 'manifest' : 'manifests'}${ofEnvelope(metadata)}`,
      ...deletion(metadata, now),
      ...((status?.conditions ?? []).length === 0 ? ['the agent of the member has not reported on it'] : []),
      ...(isStale ? ['the member agent has not reported on the current generation of this Work'] : []),
      ...open.map((each) => sayCondition(each, now)),
      ...listed(
        manifests,
        ({ each, bad }) =>
          `manifest ${each.identifier.ordinal}, ${objectName(each.identifier)}: ${sayCondition(bad, now, said)}`,
      ),
    ],
  };
}

function ofEnvelope({ labels: marks = {} }: ObjectMeta): string {
  const { [labels.envelopeWork]: kind, [labels.envelopeName]: name, [labels.envelopeNamespace]: namespace } = marks;
  if (kind === undefined || name === undefined) return '';
  return ` of ${objectName({ kind, name, namespace })}`;
}

// ---- others

const text = (object: KubeObject, field: string): string => (typeof object[field] === 'string' ? object[field] : '');

/** The last Events, newest at the end. */
export function eventEvidence(events: readonly KubeObject[], now: number): Evidence {
  const at = (event: KubeObject) =>
    Date.parse(text(event, 'lastTimestamp') || text(event, 'eventTime') || (event.metadata.creationTimestamp ?? ''));
  const newest = events.toSorted((a, b) => at(a) - at(b)).slice(-MAX_OBJECTS);
  return {
    about: 'Events',
    says: newest.map(
      (event) =>
        `${ageText(at(event), now)} ago ${text(event, 'type')} ${text(event, 'reason')}: ${text(event, 'message')}`,
    ),
  };
}

/** For causes whose message contains no time. */
export const lasting = (since: number | undefined, now: number): string =>
  since === undefined || Number.isNaN(since) ? '' : `for ${shortDuration(Math.max(0, now - since))}`;
