// Explains why one cluster does not have the placement: by a hold that names it, else by the plan of the rollout,
// computed here, else by its progress, else by why it was not picked.

import type { Hold } from '../../api/hold.ts';
import type { MemberCluster } from '../../api/member-cluster.ts';
import { UserError } from '../../base/errors.ts';
import { usesGroups } from '../../hub/groups/sources.ts';
import { usesGroups as namesGroups } from '../../hub/groups/terms.ts';
import { isReachable } from '../../hub/members/reachable.ts';
import { newestComplete } from '../../hub/orders/newest-snapshot.ts';
import { resourceIndexOf } from '../../hub/placement-sources.ts';
import { holdOf, summariseHolds } from '../../hub/status/holds-summary.ts';
import { isExternal } from '../../hub/strategies/table.ts';
import { labelsAmong, overridingNow } from '../forecast/overrides-now.ts';
import { holdNow } from '../forecast/plan-now.ts';
import {
  lowestPicked,
  numberIn,
  type Scheduling,
  type Standing,
  scheduleNow,
  scoresOf,
  standingIn,
} from '../forecast/scheduling-now.ts';
import { differingWords } from '../progress/placement-progress.ts';
import { ifRead } from '../reader.ts';
import { argumentOf } from '../which-placement.ts';
import { type Answer, answer, causeOfHold, causeOfStage, HUB_RUNS, isNotOver, MAX_CLUSTERS } from './answer.ts';
import { askedLabels, ownLabels } from './asked-labels.ts';
import { bindingsOf, clusterChain, clusterRef, type Looking } from './evidence-chain.ts';
import { ofExternalCluster } from './explain-external.ts';
import { bringNamespace, ofDeletion, staleNotes, waiting, whyRefused } from './explain-placement.ts';
import { beside, type Evidence, memberEvidence } from './explanation.ts';

export async function ofCluster(looking: Looking, cluster: string): Promise<Answer> {
  const { progress, title } = looking;
  const state = progress.clusters.find((each) => each.cluster === cluster);
  const entry = progress.holds.filter(isNotOver(looking.now)).find(({ clusters = [] }) => clusters.includes(cluster));
  const hold = entry === undefined ? await planned(looking, cluster) : holdOf(entry, clusterRef(cluster));
  if (hold !== undefined) {
    // Its hold first, then its own chain, unless it is the same.
    const cause = await causeOfHold(looking, hold);
    const own = await clusterChain(looking, cluster);
    const first = { ...cause, evidence: [...cause.evidence, ...beside(own)] };
    const bindings = await bindingsOf(looking, cluster);
    const isGivenUp = bindings.length > 0 && bindings.every(({ spec }) => spec.state === 'Unscheduled');
    const who = `cluster "${cluster}"${isGivenUp ? ', which is no longer picked,' : ''}`;
    return waiting(looking, { who, first, entry: entry ?? summariseHolds([hold])[0] });
  }
  if (progress.isDeleting) return ofDeletion(looking);
  if (state?.isDone) {
    const at = state.revision === '' ? '' : ` (revision ${state.revision})`;
    const what = progress.isReport ? 'is compared' : 'is available';
    const differing =
      state.differing === 0
        ? []
        : [`${differingWords(state.differing)}: flotilla diff ${argumentOf(looking.which)} --cluster ${cluster}`];
    const notes = [...differing, ...(await staleNotes(looking, [cluster]))];
    return answer(`cluster "${cluster}" is done: ${title} ${what}${at}`, { isWaiting: false, notes });
  }
  if (state !== undefined && isExternal(looking.placement)) return ofExternalCluster(looking, state);
  if (state !== undefined) {
    const cause = await causeOfStage(looking, state);
    return answer(cause.sentence, { causes: [cause], next: cause.next === undefined ? [HUB_RUNS] : [] });
  }
  const [binding] = await bindingsOf(looking, cluster);
  if (binding !== undefined) {
    const cause = { sentence: 'known facts', evidence: await clusterChain(looking, cluster) };
    return answer(`cluster "${cluster}" is picked by ${title}, and nothing blocks it now`, {
      isWaiting: progress.unlisted + progress.unlistedOpen === 0,
      causes: [cause],
    });
  }
  return notPicked(looking, cluster);
}

async function planned({ which, placement, reader, now }: Looking, cluster: string): Promise<Hold | undefined> {
  const bindings = ifRead(await reader.bindings());
  if (!bindings?.some(({ spec }) => spec.targetCluster === cluster)) return undefined;
  const snapshots = ifRead(await reader.resourceSnapshots());
  if (snapshots === undefined) return undefined;
  const members = ifRead(await reader.members());
  const candidates = ifRead(await reader.overrides()) ?? [];
  const index = resourceIndexOf(newestComplete(snapshots) ?? { metadata: {} });
  const objects = candidates.length === 0 || index === undefined ? [] : ifRead(await reader.objectsAt(index));
  // Without these the desired state of the cluster is unknown.
  if (objects === undefined || (candidates.length > 0 && members === undefined)) return undefined;
  return holdNow(cluster, {
    family: which.family,
    placement,
    bindings,
    snapshots,
    members,
    overriding: overridingNow(which.family, placement, candidates, objects, labelsAmong(members ?? [])),
    policySnapshot: ifRead(await reader.policySnapshot()),
    groups: usesGroups(placement) ? ifRead(await reader.groups()) : [],
    freezes: ifRead(await reader.freezes()),
    now,
  });
}

async function notPicked(looking: Looking, cluster: string): Promise<Answer> {
  const { reader, title, now } = looking;
  const policy = ifRead(await reader.policySnapshot());
  const decision = policy?.status?.targetClusters?.find(({ clusterName }) => clusterName === cluster);
  const member = await reader.member(cluster);
  if (decision === undefined && 'unreadable' in member) {
    throw new UserError('NotFound', `no object that you may read names a cluster "${cluster}": ${member.unreadable}`);
  }
  const found = ifRead(member);
  if (decision === undefined && found === undefined) {
    const names = (ifRead(await reader.members()) ?? []).map(({ metadata }) => metadata.name ?? '');
    const more = names.length > MAX_CLUSTERS ? ` and ${names.length - MAX_CLUSTERS} more` : '';
    const known = names.length === 0 ? 'there are none' : `known: ${names.slice(0, MAX_CLUSTERS).join(', ')}${more}`;
    throw new UserError('NotFound', `MemberCluster "${cluster}" not found (${known})`);
  }
  const scheduling = await schedulingOf(looking);
  const standing = scheduling && standingIn(scheduling, cluster);
  const why = decision === undefined ? unexplained(looking, cluster) : whyRefused(decision);
  const known = (member: MemberCluster) => [
    memberEvidence(member, cluster, now),
    ...labelled(looking, member),
    ...(scheduling === undefined || standing === undefined ? [] : [judgement(scheduling, standing)]),
  ];
  return answer(`cluster "${cluster}" is not picked by ${title}: ${why}`, {
    causes: found === undefined ? [] : [{ sentence: 'known facts', evidence: known(found) }],
    next: [
      ...bringNamespace(looking, decision === undefined ? [] : [decision]),
      nextFor(looking, cluster, found),
    ].slice(0, 1),
  });
}

/** Runs the scheduler's cycle here, because its status explains only the first clusters. */
async function schedulingOf({ which: { namespace }, reader, now }: Looking): Promise<Scheduling | undefined> {
  const snapshot = ifRead(await reader.policySnapshot());
  const members = ifRead(await reader.members());
  const bindings = ifRead(await reader.bindings());
  if (snapshot === undefined || members === undefined || bindings === undefined) return undefined;
  const groups = namesGroups(snapshot.spec.policy) ? ifRead(await reader.groups()) : [];
  // The scheduler does not decide either without them.
  if (groups === undefined) return undefined;
  return scheduleNow({
    groups,
    policy: snapshot.spec.policy,
    numberOfClusters: numberIn(snapshot),
    snapshot: snapshot.metadata.name ?? '',
    namespace,
    members,
    bindings,
    now,
  });
}

function judgement(scheduling: Scheduling, standing: Standing): Evidence {
  const about = 'Scheduler, with the current objects';
  switch (standing.is) {
    case 'refused':
      return { about, says: [`plugin ${standing.plugin} refuses it: ${whyRefused(standing.decision)}`] };
    case 'outscored': {
      const lowest = lowestPicked(scheduling);
      return {
        about,
        says: [
          `no plugin refuses it (${scoresOf(standing.decision)})`,
          ...(lowest === undefined
            ? []
            : [`the lowest score that is picked is that of cluster "${lowest.clusterName}" (${scoresOf(lowest)})`]),
          'on equal scores the name that sorts last is picked',
        ],
      };
    }
    case 'picked':
      return { about, says: [`no plugin refuses it: the next cycle picks it (${scoresOf(standing.decision)})`] };
    default:
      return { about, says: [standing.decision.reason] };
  }
}

const labelled = ({ placement }: Looking, member: MemberCluster): readonly Evidence[] =>
  askedLabels(placement).map(({ about, says }) => ({
    about,
    says: [...says, `it has ${ownLabels(placement, member)}`],
  }));

/** The scheduler explains only some of the clusters. */
function unexplained({ placement }: Looking, cluster: string): string {
  const { placementType, clusterNames = [], numberOfClusters } = placement.spec.policy ?? {};
  if (placementType === 'PickFixed' && !clusterNames.includes(cluster)) return 'its policy names other clusters';
  if (placementType === 'PickN') return `its policy asks for ${numberOfClusters ?? 0}, and others were found`;
  return 'the scheduler gives no reason';
}

function nextFor({ placement }: Looking, cluster: string, member: MemberCluster | undefined): string {
  if (member === undefined) return `let cluster "${cluster}" join (\`flotilla join\`), or name another one`;
  const agent = member.status?.agentStatus?.find(({ type }) => type === 'MemberAgent');
  if (member.metadata.deletionTimestamp !== undefined)
    return `cluster "${cluster}" is leaving the fleet: let it join again`;
  if (agent === undefined) return `start the agent of cluster "${cluster}" (\`flotilla member\`)`;
  if (!isReachable(member)) return `reconnect cluster "${cluster}": its agent does not respond`;
  return placement.spec.policy?.placementType === 'PickFixed'
    ? `name cluster "${cluster}" in the policy of the placement`
    : `change the policy of the placement, or the labels and taints of cluster "${cluster}"`;
}
