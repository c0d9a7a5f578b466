// `flotilla plan -f PLACEMENT`: which clusters a new or changed policy would pick, with scores. Writes nothing: the
// manifest is checked by a dry run.
import { type MemberCluster, memberCluster } from '../../api/member-cluster.ts';
import { labels } from '../../api/names.ts';
import { groupVersionOf, type KubeObject } from '../../api/object.ts';
import type { Placement } from '../../api/placement.ts';
import { specProblemIn } from '../../api/spec-problem.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { createClient } from '../../client/client.ts';
import { families, type PlacementFamily } from '../../hub/families.ts';
import { usesGroups } from '../../hub/groups/terms.ts';
import { policyHashOf } from '../../hub/placement/policy-hash.ts';
import { isLatest } from '../../hub/placement-sources.ts';
import { scheduleNow } from '../../insight/forecast/scheduling-now.ts';
import { within } from '../../insight/which-run.ts';
import { rehearse } from '../objects/apply.ts';
import type { Manifest } from '../objects/manifests.ts';
import { readGroups } from '../reading/groups.ts';
import type { Connected } from '../server/connect.ts';
import { type Print, targetOf } from '../server/target.ts';
import { EXIT } from '../terminal/showing.ts';
import { type PlacementPlan, renderPlacementPlan } from './render-placement-plan.ts';

type Server = Pick<Connected, 'transport' | 'catalogue' | 'namespace'>;

export interface PlanPlacementOptions {
  readonly output?: string;
  readonly namespace?: string;
  readonly clock: Clock;
}

/** Returns the exit code. */
export async function planPlacement(
  server: Server,
  manifests: readonly Manifest[],
  { output, namespace, clock }: PlanPlacementOptions,
  print: Print,
): Promise<number> {
  const { family, given, others } = placementIn(manifests);
  if (!family.placement.namespaced && namespace !== undefined) {
    throw new UserError('BadFlag', 'a ClusterResourcePlacement is in no namespace: omit -n');
  }
  if (others.length > 0) {
    const names = others.map(({ kind, metadata }) => `${kind} "${metadata.name}"`).join(', ');
    print.warning(`only the placement is taken from -f, everything else from the hub; left out: ${names}`);
  }
  const notes: string[] = [];
  const placement = await rehearsed(server, given, notes);
  const plan = await planOf(server, family, placement, clock.now(), notes);
  print.line(output === 'json' ? JSON.stringify(plan, undefined, 2) : renderPlacementPlan(plan));
  // PickAll is satisfied with no cluster, but that is hardly intended.
  const isFulfilled = plan.found >= plan.wanted && (plan.found > 0 || plan.placementType !== 'PickAll');
  return isFulfilled ? EXIT.complete : EXIT.waiting;
}

const isOf = (object: KubeObject, { group, kind }: PlacementFamily['placement']): boolean =>
  object.kind === kind && groupVersionOf(object.apiVersion).group === group;

function placementIn(manifests: readonly Manifest[]) {
  const objects = manifests.map(({ object }) => object);
  const found = objects.flatMap((object) => {
    const family = families.find(({ placement }) => isOf(object, placement));
    return family === undefined ? [] : [{ family, object }];
  });
  const [first] = found;
  if (first === undefined || found.length > 1) {
    const isRun = objects.some((object) => families.some(({ run }) => isOf(object, run)));
    const hint = isRun ? '; for a staged update run write `flotilla plan run -f`' : '';
    const count = first === undefined ? 'none is there' : `${found.length} are there`;
    throw new UserError(
      'ManifestInvalid',
      `-f must name exactly one ClusterResourcePlacement or ResourcePlacement: ${count}${hint}`,
    );
  }
  return { family: first.family, given: first.object, others: objects.filter((object) => object !== first.object) };
}

/** As the server would store it. A caller without the permission to write it still gets a plan. */
async function rehearsed(server: Server, object: KubeObject, notes: string[]): Promise<Placement> {
  try {
    return (await rehearse(server, object)) as Placement;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 403)) throw error;
    notes.push(`the server did not check ${object.kind} "${object.metadata.name}": ${error.message}`);
    const { namespace } = targetOf(server, object);
    return { ...object, metadata: { ...object.metadata, ...within(namespace) } } as Placement;
  }
}

async function planOf(
  server: Server,
  family: PlacementFamily,
  placement: Placement,
  now: number,
  notes: string[],
): Promise<PlacementPlan> {
  const { name = '', namespace } = placement.metadata;
  const { policy } = placement.spec;
  const client = createClient(server.transport, 'flotilla');
  const ours = { labels: `${labels.parentPlacement}=${name}`, ...within(namespace) };
  const members = (await client.list(memberCluster)).items as readonly MemberCluster[];
  const bindings = (await client.list(family.binding, ours)).items.flatMap(
    (each) => family.bindings.project?.(each) ?? [],
  );
  const snapshots = (await client.list(family.policySnapshot, ours)).items.flatMap(
    (each) => family.policySnapshots.project?.(each) ?? [],
  );
  const latest = snapshots.find(isLatest);
  // If the policy is the same, the hub keeps its snapshot, and bindings stay as they are.
  const { numberOfClusters, ...recorded } = policy ?? { numberOfClusters: undefined };
  const same = latest !== undefined && latest.spec.policyHash === policyHashOf(policy && (recorded as typeof policy));
  const problem = specProblemIn(placement.spec);
  if (problem !== undefined)
    notes.push(`${problem.message}: the hub does not schedule this placement; ${problem.next}`);
  const scheduling = scheduleNow({
    groups: usesGroups(policy) ? ((await readGroups(client)) ?? []) : [],
    policy,
    numberOfClusters: numberOfClusters ?? 0,
    snapshot: same ? (latest.metadata.name ?? '') : '',
    ...within(namespace),
    members,
    bindings,
    now,
  });
  return {
    kind: family.placement.kind,
    name,
    ...within(namespace),
    placementType: policy?.placementType ?? 'PickAll',
    isNewPolicy: !same,
    wanted: scheduling.wanted,
    found: scheduling.found,
    clusters: scheduling.standings.map(({ is, decision, ...rest }) => ({
      cluster: decision.clusterName,
      decision: is,
      ...(decision.clusterScore === undefined
        ? {}
        : {
            affinityScore: decision.clusterScore.affinityScore ?? 0,
            topologySpreadScore: decision.clusterScore.priorityScore ?? 0,
          }),
      ...('plugin' in rest ? { plugin: rest.plugin } : {}),
      reason: decision.reason,
    })),
    notes: [...scheduling.remarks, ...notes],
  };
}
