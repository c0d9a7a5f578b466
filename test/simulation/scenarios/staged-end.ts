// The end state of a world with runs: every run is complete, or its status has a hold that is true. No cluster is half
// updated, and no deleted run leaves a request behind.
import type { ApprovalRequest } from '../../../src/api/approval-request.ts';
import type { Binding } from '../../../src/api/binding.ts';
import type { HoldEntry } from '../../../src/api/holds.ts';
import type { Resource } from '../../../src/api/kind.ts';
import { type MemberCluster, memberCluster } from '../../../src/api/member-cluster.ts';
import { labels } from '../../../src/api/names.ts';
import { conditionOf } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ResourceSnapshot } from '../../../src/api/resource-snapshot.ts';
import type { StagedUpdateRun } from '../../../src/api/staged-update-run.ts';
import type { PlacementFamily } from '../../../src/hub/families.ts';
import type { Sight } from '../../../src/sim/check.ts';
import type { Readable } from '../../../src/sim/server.ts';
import { textIn } from './light-member.ts';
import {
  isAccepted,
  isApproved,
  isAvailable,
  isDeleting,
  isOver,
  isPicked,
  isReleased,
  requestsOf,
  snapshotOf,
  stagesOf,
} from './staged-chronicle.ts';

const inAll = <T extends KubeObject>(store: Readable, { group, plural }: Resource): readonly T[] =>
  store.range(`${group}/${plural}/`).items.map((item) => item.object() as T);

const LONGEST_SILENCE_MS = 75_000;

const beatOf = ({ status }: MemberCluster): number =>
  Date.parse(status?.agentStatus?.find(({ type }) => type === 'MemberAgent')?.lastReceivedHeartbeat ?? '1970-01-01');

interface End {
  readonly now: number;
  readonly runs: readonly StagedUpdateRun[];
  readonly requests: readonly ApprovalRequest[];
  readonly bindings: readonly Binding[];
  isBad(snapshot: string): boolean;
}

export function unsettled(sight: Sight, family: PlacementFamily): string | undefined {
  const store = sight.store('hub');
  if (store === undefined) return 'the hub is down';
  const leaving = inAll(store, memberCluster).find(isDeleting);
  if (leaving !== undefined) return `${leaving.metadata.name} still leaves`;
  // A partition may last longer than all other faults.
  const silent = inAll<MemberCluster>(store, memberCluster).find(
    (each) => sight.now - beatOf(each) > LONGEST_SILENCE_MS,
  );
  if (silent !== undefined) return `${silent.metadata.name} is not heard yet`;
  const end: End = {
    now: sight.now,
    runs: inAll<StagedUpdateRun>(store, family.run),
    requests: inAll<ApprovalRequest>(store, family.approvalRequest),
    bindings: inAll<Binding>(store, family.binding),
    isBad: (snapshot) =>
      inAll<ResourceSnapshot>(store, family.resourceSnapshot)
        .find(({ metadata }) => metadata.name === snapshot)
        ?.spec.selectedResources.some((each) => textIn(each as KubeObject).includes('bad')) ?? false,
  };
  const going = [...end.runs, ...end.requests, ...end.bindings].find(isDeleting);
  if (going !== undefined) return `${going.kind} ${going.metadata.name} still goes`;
  const uids = new Set(end.runs.map(({ metadata }) => metadata.uid));
  const orphan = end.requests.find(
    ({ metadata: { labels: own, ownerReferences = [] } }) =>
      own?.[labels.targetUpdateRun] !== undefined && !ownerReferences.some(({ uid }) => uids.has(uid)),
  );
  if (orphan !== undefined) return `${orphan.metadata.name} is left behind by its run`;
  for (const run of end.runs) {
    const trouble = troubleWith(run, end);
    if (trouble !== undefined) return `${run.metadata.name} (${run.spec.state}): ${trouble}`;
  }
  return undefined;
}

function troubleWith(run: StagedUpdateRun, end: End): string | undefined {
  const { conditions, holds = [] } = run.status ?? {};
  const [initialized, progressing, succeeded] = ['Initialized', 'Progressing', 'Succeeded'].map((type) =>
    conditionOf(conditions, type),
  );
  const stale = (conditions ?? []).find(({ observedGeneration }) => observedGeneration !== run.metadata.generation);
  if (stale !== undefined) return `${stale.type} speaks of generation ${stale.observedGeneration}`;
  if (isOver(run)) return (succeeded ?? initialized)?.message === '' ? 'it does not say why it is over' : undefined;
  if (initialized === undefined) return 'it says nothing';
  if (holds.length === 0)
    return `it is not over and nothing holds it (${progressing?.reason}: ${progressing?.message})`;
  const untrue = holds.find((hold) => !isTrue(hold, run, end));
  if (untrue !== undefined) return `it is not held by ${JSON.stringify(untrue)}`;
  const says = (code: string) => holds.some((hold) => hold.code === code);
  if (initialized.status === 'True' && run.spec.state === 'Initialize' && !says('RunNotStarted'))
    return 'it does not say that it waits to be started';
  if (initialized.status === 'True' && run.spec.state === 'Stop' && !says('RunStopped'))
    return 'it does not say that it is stopped';
  return wordless(run, end);
}

/** Whether a hold is true. */
function isTrue(
  { code, on, until }: HoldEntry,
  run: StagedUpdateRun,
  { now, runs, requests, bindings, isBad }: End,
): boolean {
  const name = on?.name ?? '';
  switch (code) {
    case 'ApprovalMissing': {
      const request = requests.find(({ metadata }) => metadata.name === name);
      return request !== undefined && !isApproved(request) && !isAccepted(request);
    }
    case 'TimedWait':
      return Date.parse(until ?? '') > now;
    case 'OtherRun':
      return runs.some((other) => other.metadata.name === name && !isOver(other));
    // Good content works everywhere in the end.
    case 'NotAvailable':
    case 'ConcurrencyUsed': {
      const binding = bindings.find((each) => isPicked(each) && each.spec.targetCluster === name);
      const isTried = binding?.spec.resourceSnapshotName === snapshotOf(run) && isReleased(binding);
      return isTried && !isAvailable(binding) && isBad(snapshotOf(run));
    }
    case 'RemovalPending':
      return bindings.some((each) => each.metadata.name === name && !isPicked(each));
    // All members are reachable in the end.
    case 'Unreachable':
    case 'StepRefused':
      return false;
    default:
      return true;
  }
}

/** An approval that does not count is reported on the request. */
function wordless(run: StagedUpdateRun, { requests }: End): string | undefined {
  const gates = new Set(
    stagesOf(run).flatMap((stage) => [
      ...requestsOf(stage.beforeStageTaskStatus),
      ...requestsOf(stage.afterStageTaskStatus),
    ]),
  );
  const silent = requests.find((request) => {
    const { metadata, status, spec } = request;
    const isOurs = gates.has(metadata.name ?? '') && spec.parentStageRollout === run.metadata.name;
    const approved = conditionOf(status?.conditions, 'Approved');
    const answer = conditionOf(status?.conditions, 'ApprovalAccepted');
    return isOurs && approved?.status === 'True' && !isApproved(request) && answer === undefined;
  });
  return silent && `${silent.metadata.name} is not told why its approval does not count`;
}
