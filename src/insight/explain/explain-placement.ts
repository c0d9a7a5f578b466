// Explains why a placement as a whole does not progress: by its holds; if there are none, or the CRD lacks the field,
// by its conditions and Events.

import { BLOCKING, type HoldCode } from '../../api/hold.ts';
import type { HoldEntry } from '../../api/holds.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { ObjectRef } from '../../api/object.ts';
import { ageText } from '../../base/age.ts';
import { isReachable } from '../../hub/members/reachable.ts';
import type { HubPolicySnapshot } from '../../hub/placement-sources.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { differingNote } from '../progress/placement-progress.ts';
import { labelOf } from '../progress/stuck.ts';
import { ifRead } from '../reader.ts';
import { argumentOf, NAME } from '../which-placement.ts';
import { alike } from './alike.ts';
import {
  type Answer,
  answer,
  causeOfAlike,
  causeOfStage,
  HUB_RUNS,
  isNotOver,
  MAX_CLUSTERS,
  waitsFor,
} from './answer.ts';
import { askedLabels, ownLabels } from './asked-labels.ts';
import { clusterChain, type Looking, MAX_CHAINS } from './evidence-chain.ts';
import { ofExternal } from './explain-external.ts';
import { beside, type Cause, type Evidence, eventEvidence, leavingText } from './explanation.ts';
import { untrackedNotes } from './untracked.ts';

export async function ofPlacement(looking: Looking): Promise<Answer> {
  const { progress, title } = looking;
  if (progress.isDeleting) return ofDeletion(looking);
  const held: Cause[] = [];
  const groups = alike(progress.holds.filter(isNotOver(looking.now)));
  for (const group of groups) held.push(dated(looking, await causeOfAlike(looking, group, refOf(looking))));
  const causes = [...held, ...(await unscheduled(looking))];
  const [first] = causes;
  const { isComplete, nothing, open, nobody } = progress;
  // An empty selection is reported elsewhere; nothing else blocks the placement then.
  if (isComplete || (nothing !== undefined && first === undefined && open === undefined && nobody === undefined)) {
    const { total, revision, isReport } = progress;
    if (total === 0) {
      const sentence = `${title} is complete: its policy asks for no cluster`;
      return answer(sentence, { isWaiting: false, causes, notes: looking.progress.notes });
    }
    const clusters = total === 1 ? 'its cluster' : `all ${total} clusters`;
    const at = revision === '' ? '' : ` (revision ${revision})`;
    const sentence = `${title} is complete: ${isReport ? 'compared' : 'available'} on ${clusters}${at}`;
    const silent = await staleNotes(
      looking,
      progress.clusters.map(({ cluster }) => cluster),
    );
    const notes = [
      ...looking.progress.notes,
      ...differenceNotes(looking),
      ...(await untrackedNotes(looking)),
      ...silent,
    ];
    return answer(sentence, { isWaiting: false, causes: causes.map(withNothingToDo), notes });
  }
  if (first !== undefined)
    return waiting(looking, { who: title, first, others: causes.slice(1), entry: groups[0]?.[0] });
  if (progress.outdated !== undefined) {
    const { generation } = progress.outdated;
    return answer(`${title} waits: the hub has not processed generation ${generation} yet`, { next: [HUB_RUNS] });
  }
  if (progress.nobody !== undefined) return ofNobody(looking, progress.nobody);
  return isExternal(looking.placement) ? ofExternal(looking) : ofConditions(looking);
}

/** Differences on clusters, where they are only reported or left alone, do not keep a placement from being complete. */
function differenceNotes({ progress, which }: Looking): readonly string[] {
  const note = differingNote(progress);
  return note === undefined ? [] : [`${note}: flotilla diff ${argumentOf(which)}`];
}

/** A hold of the whole placement also blocks its scheduling, whose condition has the time. */
function dated({ progress: { open } }: Looking, cause: Cause): Cause {
  const isBlocking = cause.code !== undefined && BLOCKING.includes(cause.code);
  if (!isBlocking || cause.since !== undefined || open?.step !== 'Scheduled' || open.status !== 'Unknown') return cause;
  return { ...cause, since: Date.parse(open.lastTransitionTime) };
}

/** All clusters have the revision: that availability cannot be tracked is worth a note, but there is no next step. */
function withNothingToDo(cause: Cause): Cause {
  if (cause.code !== ('UntrackedPeriod' satisfies HoldCode)) return cause;
  const { next: _next, ...rest } = cause;
  return rest;
}

/** The status of an unreachable member is its last report. */
export async function staleNotes({ reader, now }: Looking, clusters: readonly string[]): Promise<readonly string[]> {
  const names = new Set(clusters);
  const silent = (ifRead(await reader.members()) ?? []).filter(
    (member) => names.has(member.metadata.name ?? '') && !isReachable(member),
  );
  if (silent.length === 0) return [];
  const said = silent.slice(0, MAX_CLUSTERS).map((member) => {
    const name = member.metadata.name ?? '';
    const beat = conditionOf(member.status?.conditions, 'Healthy')?.lastTransitionTime;
    return `"${name}"${beat === undefined ? '' : ` (for ${ageText(Date.parse(beat), now)})`}`;
  });
  const more = silent.length > said.length ? ` and ${silent.length - said.length} more` : '';
  const who = silent.length === 1 ? 'cluster' : 'clusters';
  return [
    `${who} ${said.join(', ')}${more} ${silent.length === 1 ? 'is' : 'are'} unreachable: this is the last report`,
  ];
}

interface Waiting {
  readonly who: string;
  readonly first: Cause;
  readonly others?: readonly Cause[];
  /** The hold behind the first cause. */
  readonly entry: Pick<HoldEntry, 'code' | 'on' | 'facts' | 'since'> | undefined;
}

/** That a member is leaving, and how long the hub waits for it, explains more than the budget that it uses. */
export async function waiting(
  { reader, now, progress }: Looking,
  { who, first, others = [], entry }: Waiting,
): Promise<Answer> {
  const on = entry?.on;
  const name = on?.kind === memberCluster.kind && NAME.test(on.name) ? on.name : undefined;
  const leavingWords = name === undefined ? undefined : leavingText(ifRead(await reader.member(name)), name);
  if (leavingWords === undefined) {
    const since = first.since === undefined ? {} : { since: first.since };
    return answer(waitsFor(who, first.sentence), {
      ...since,
      ...(first.brief === undefined ? {} : { brief: waitsFor(who, first.brief) }),
      ...(entry === undefined ? {} : { label: labelOf(entry, now, progress.clusters) }),
      causes: [first, ...others],
    });
  }
  const next = `wait until cluster "${name}" has left the fleet${first.code === 'BudgetUsed' ? ', or raise maxUnavailable' : ''}; if its agent comes back, it leaves sooner`;
  const { detail: _detail, ...told } = { ...first, next, evidence: beside(first.evidence) };
  return answer(`${who} waits: MemberCluster "${name}" ${leavingWords}`, { causes: [told, ...others] });
}

/** No cluster fits: the user needs to know why each of them is excluded. */
async function ofNobody(looking: Looking, said: string): Promise<Answer> {
  const { title, reader } = looking;
  const policy = ifRead(await reader.policySnapshot());
  const members = ifRead(await reader.members())?.length;
  const refused = refusedIn(policy);
  const count = Math.max(members ?? 0, refused.length);
  const why =
    policy === undefined ? said : members === 0 ? 'the fleet has no members' : `none of ${count} matches its policy`;
  const evidence = await lookedAt(looking, policy, members);
  return answer(`no cluster fits ${title}: ${why}`, {
    causes: evidence.length === 0 ? [] : [{ sentence: why, evidence }],
    next:
      members === 0
        ? ['let clusters join (`flotilla join`)']
        : [
            ...bringNamespace(looking, refused),
            'change the policy of the placement, or the labels and taints of clusters',
          ],
    notes: looking.progress.notes,
  });
}

/** Placing objects into a namespace does not create the namespace. */
export function bringNamespace({ which: { namespace } }: Looking, refused: readonly { readonly reason: string }[]) {
  if (namespace === undefined || !refused.some(({ reason }) => reason.includes('does not have namespace'))) return [];
  return [
    `bring namespace "${namespace}" to the clusters: a ClusterResourcePlacement that selects it with selectionScope NamespaceOnly does that`,
  ];
}

const refOf = ({ which: { family, name, namespace } }: Looking): ObjectRef => ({
  group: family.placement.group,
  kind: family.placement.kind,
  name,
  namespace,
});

/** An invalid policy or selector, or fewer clusters than the policy asks for. */
async function unscheduled(looking: Looking): Promise<readonly Cause[]> {
  const { open } = looking.progress;
  if (open?.step !== 'Scheduled' || open.status !== 'False') return [];
  const { reason, message } = open;
  const since = Date.parse(open.lastTransitionTime);
  if (reason === 'InvalidResourceSelectors') {
    return [{ sentence: message, since, evidence: [], next: 'correct the resourceSelectors of the placement' }];
  }
  const policy = ifRead(await looking.reader.policySnapshot());
  const evidence = await lookedAt(looking, policy);
  const [bring] = bringNamespace(looking, refusedIn(policy));
  return [
    {
      sentence: `not enough clusters fit the policy: ${message}`,
      since,
      evidence,
      next: bring ?? 'let more clusters join or fit the policy, or ask for fewer',
    },
  ];
}

const refusedIn = (policy: HubPolicySnapshot | undefined) =>
  (policy?.status?.targetClusters ?? []).filter(({ selected }) => !selected);

/** `count`: the number of members, if it is known and none of them was picked. */
async function lookedAt(
  { placement, reader }: Looking,
  policy: HubPolicySnapshot | undefined,
  count = 0,
): Promise<readonly Evidence[]> {
  const refused = refusedIn(policy).slice(0, MAX_CLUSTERS);
  if (refused.length === 0) return [];
  const asked = askedLabels(placement);
  const known = new Map((ifRead(await reader.members()) ?? []).map((each) => [each.metadata.name, each]));
  const has = (cluster: string) => {
    const member = asked.length === 0 ? undefined : known.get(cluster);
    return member === undefined ? '' : ` (it has ${ownLabels(placement, member)})`;
  };
  const more = count - refused.length;
  const says = refused.map((each) => `${sayRefused(each)}${has(each.clusterName)}`);
  return [
    ...asked,
    { about: 'Clusters that were evaluated', says: [...says, ...(more > 0 ? [`and ${more} more`] : [])] },
  ];
}

/** Why a cluster was not picked, without the scheduler's prefix. */
export const whyRefused = ({ reason }: { readonly reason: string }): string =>
  reason.replace(/^ClusterUnschedulable, /, '');

const sayRefused = (decision: { readonly clusterName: string; readonly reason: string }): string => {
  const why = whyRefused(decision);
  return why.includes(decision.clusterName) ? why : `${decision.clusterName}: ${why}`;
};

export async function ofDeletion(looking: Looking): Promise<Answer> {
  const { placement, title, reader, now } = looking;
  const { deletionTimestamp = '', finalizers = [] } = placement.metadata;
  const remaining = ifRead(await reader.bindings()) ?? [];
  const causes: Cause[] = [];
  for (const binding of remaining.slice(0, MAX_CHAINS)) {
    const { targetCluster } = binding.spec;
    causes.push({
      sentence: `cluster "${targetCluster}" has not finished removing it`,
      evidence: beside(await clusterChain(looking, targetCluster)),
    });
  }
  const clusters = [...new Set(remaining.map(({ spec }) => spec.targetCluster))];
  const what =
    clusters.length > 0
      ? `${clusters.length} ${clusters.length === 1 ? 'cluster has' : 'clusters have'} to remove it first`
      : finalizers.length === 0
        ? 'no finalizers remain'
        : `held by ${finalizers.join(', ')}`;
  return answer(`${title} has been terminating for ${ageText(Date.parse(deletionTimestamp), now)}: ${what}`, {
    causes,
    next: [
      ...(clusters.length > 0 ? ['wait; if a cluster does not exist any more, delete its MemberCluster'] : [HUB_RUNS]),
    ],
  });
}

/** Without holds: the conditions of the placement and of its clusters, and Events. */
async function ofConditions(looking: Looking): Promise<Answer> {
  const { progress, placement, title, reader, now } = looking;
  const { open } = progress;
  const hasHolds = await reader.hasHolds();
  const causes: Cause[] = [];
  for (const cluster of progress.clusters
    .filter(({ isDone, cluster }) => !isDone && cluster !== '')
    .slice(0, MAX_CLUSTERS)) {
    causes.push(await causeOfStage(looking, cluster));
  }
  const events = eventEvidence(ifRead(await reader.events(placement)) ?? [], now);
  if (events.says.length > 0) causes.push({ sentence: 'recent Events', evidence: [events] });
  const why =
    open === undefined
      ? 'its status gives no reason'
      : `${open.step} is ${open.status} (${open.reason}): ${open.message}`;
  return answer(`${title} is not complete: ${why}`, {
    causes,
    next: causes.some(({ next }) => next !== undefined) ? [] : [HUB_RUNS],
    notes: [
      ...(hasHolds === false
        ? [
            'the CRD of this server has no field status.holds (it belongs to another hub, or is older): the answer comes from conditions and Events',
          ]
        : ['status.holds is empty: the answer comes from conditions and Events']),
    ],
  });
}
