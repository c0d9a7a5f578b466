// The clusters of a run: the placement, the decisions of the scheduler, and its bindings. Evaluated when a run starts
// and before every step.

import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { Hold } from '../../api/hold.ts';
import type { Resource } from '../../api/kind.ts';
import { annotations } from '../../api/names.ts';
import { conditionOf } from '../../api/next-condition.ts';
import { type ObjectRef, refText } from '../../api/object.ts';
import { placementConditionType } from '../../api/placement.ts';
import { by } from '../../base/compare.ts';
import { refTo } from '../../runtime/actions.ts';
import { applyStrategyOf } from '../orders/apply-strategy.ts';
import {
  type HubBinding,
  type HubPlacement,
  type HubPolicySnapshot,
  isScheduledNow,
  policyIndexOf,
} from '../placement-sources.ts';
import { isExternal, strategyTypeOf } from '../strategies/table.ts';
import type { Facts, Premise, Wrong } from './observed.ts';

export interface Targets {
  readonly placement: HubPlacement;
  readonly applyStrategy: ApplyStrategy;
  readonly policyIndex: string;
  /** How many clusters the policy asks for; undefined = as many as fit. */
  readonly count: number | undefined;
  /** Picked, sorted by name. */
  readonly updates: readonly HubBinding[];
  /** Unscheduled, sorted by cluster. */
  readonly removals: readonly HubBinding[];
}

export type Targeting =
  | ({ readonly state: 'known' } & Targets)
  | ({ readonly state: 'wrong' } & Wrong & Partial<Pick<Targets, 'policyIndex' | 'applyStrategy'>>)
  /** The placement does not exist yet, the scheduler is not done, or its bindings are not cached yet. */
  | { readonly state: 'pending'; readonly hold: Hold; readonly rests?: readonly Premise[] };

export interface TargetingOptions {
  /**
   * The run is starting: the placement may not exist yet, and the scheduler must have processed its present generation.
   */
  readonly isFresh: boolean;
  /** Continue with the remaining clusters if some have left. */
  readonly allowsFewer: boolean;
}

export function targetsOf(facts: Facts, { isFresh, allowsFewer }: TargetingOptions): Targeting {
  const { family, run, placement, bindings } = facts;
  const { placementName } = run.spec;
  const whole = `${family.placement.kind} "${placementName}"`;
  const onPlacement = [{ of: 'placement', name: placementName }] as const;
  if (placement === undefined) {
    // Differs from KubeFleet: there such a run fails for good, so applying manifests in any order may not work.
    if (isFresh) return { state: 'pending', hold: missing(facts, family.placement, placementName), rests: onPlacement };
    return wrong('user', `${refText(missingRef(facts, family.placement, placementName))} does not exist`, onPlacement);
  }
  if (placement.metadata.deletionTimestamp !== undefined)
    return wrong('user', `${whole} is being deleted`, onPlacement);
  if (!isExternal(placement)) {
    const type = strategyTypeOf(placement);
    return wrong('user', `${whole} has strategy type ${type}: runs work on placements with type External`, onPlacement);
  }
  const applyStrategy = applyStrategyOf(placement);
  const pending = (message: string): Targeting => ({ state: 'pending', hold: holdOf(facts, placement, message) });

  const [policy, ...rivals] = facts.policySnapshots;
  if (policy === undefined) return pending(sayingOf(facts, placement) ?? 'it has no policy snapshot yet');
  if (rivals.length > 0) return pending('one policy snapshot is taking over from another');
  const { name: policyName = '' } = policy.metadata;
  const onPolicy = [{ of: 'policySnapshot', name: policyName }] as const;
  const index = policyIndexOf(policy);
  if (index === undefined)
    return { ...wrong('internal', `policy snapshot "${policyName}" has no index`, onPolicy), applyStrategy };
  const found = { policyIndex: String(index), applyStrategy };
  const count = countOf(policy);
  if (Number.isNaN(count)) {
    const message = `annotation ${annotations.numberOfClusters} of policy snapshot "${policyName}" is no number`;
    return { ...wrong('internal', message, onPolicy), ...found };
  }

  const said = conditionOf(policy.status?.conditions, 'Scheduled');
  const isSaid =
    said !== undefined && said.status !== 'Unknown' && said.observedGeneration === policy.metadata.generation;
  const isOfNow = isScheduledNow(placement, policy);
  if (!isSaid || (isFresh && !isOfNow)) {
    return pending(sayingOf(facts, placement) ?? 'the scheduler has not decided yet');
  }
  if (said.status === 'False' && !allowsFewer) {
    if (isFresh) return pending(said.message);
    return { ...wrong('internal', `${whole} is not fully scheduled any more: ${said.message}`, onPolicy), ...found };
  }

  const living = bindings.filter(
    ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.state !== 'Unscheduled',
  );
  const outdated = living.find(({ spec }) => spec.schedulingPolicySnapshotName !== policyName);
  if (outdated !== undefined) {
    return pending(
      `cluster "${outdated.spec.targetCluster}" was picked by an earlier policy; the scheduler has not evaluated it again yet`,
    );
  }
  const updates = living.toSorted(by(({ metadata }) => metadata.name ?? ''));
  const removals = bindings
    .filter(({ spec }) => spec.state === 'Unscheduled')
    .toSorted(by(({ spec, metadata }) => `${spec.targetCluster}/${metadata.name}`));
  // The scheduler writes bindings before its decisions: if a picked cluster has no binding here, the cache is stale.
  const given = new Set(bindings.map(({ spec }) => spec.targetCluster));
  const unseen = (policy.status?.targetClusters ?? []).find(
    ({ selected, clusterName }) => selected && !given.has(clusterName),
  );
  if (unseen !== undefined)
    return pending(`cluster "${unseen.clusterName}" is picked, and its binding is not there yet`);

  if (updates.length === 0 && removals.length === 0 && !allowsFewer) {
    return { ...wrong('internal', `${whole} has no clusters: ${said.message}`, onPolicy), ...found };
  }
  if (count !== undefined && count !== updates.length && !allowsFewer) {
    const message = `${updates.length} clusters are bound, and the policy asks for ${count}`;
    if (isFresh) return pending(message);
    return { ...wrong('internal', `${whole}: ${message}`, onPolicy), ...found };
  }
  return { state: 'known', placement, ...found, count, updates, removals };
}

const wrong = (blame: Wrong['blame'], message: string, rests: Wrong['rests']) =>
  ({ state: 'wrong', blame, message, rests }) as const;

/** NaN = the annotation is not a number. */
function countOf({ spec: { policy }, metadata }: HubPolicySnapshot): number | undefined {
  if (policy?.placementType === 'PickFixed') return policy.clusterNames?.length ?? 0;
  if (policy?.placementType !== 'PickN') return undefined;
  const text = metadata.annotations?.[annotations.numberOfClusters] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

/** The placement's own message while it is not scheduled. */
function sayingOf({ family }: Facts, { conditions }: HubPlacement): string | undefined {
  const scheduled = conditionOf(conditions, placementConditionType(family.placement, 'Scheduled'));
  return scheduled === undefined || scheduled.status === 'True' ? undefined : scheduled.message;
}

const missingRef = ({ run }: Pick<Facts, 'run'>, resource: Resource, name: string): ObjectRef => {
  const { namespace } = run.metadata;
  return refTo(resource, { metadata: namespace === undefined ? { name } : { name, namespace } });
};

/** The run references an object that does not exist, and waits for it forever. */
export const missing = (facts: Pick<Facts, 'family' | 'run'>, resource: Resource, name: string): Hold => ({
  code: 'NotFound',
  subject: refTo(facts.family.run, facts.run),
  on: missingRef(facts, resource, name),
  facts: {},
  next: `create ${resource.kind} "${name}"; if the name is wrong, delete the run and create a new one`,
});

const holdOf = ({ family, run }: Facts, placement: HubPlacement, message: string): Hold => ({
  code: 'SchedulingPending',
  subject: refTo(family.run, run),
  on: refTo(family.placement, placement),
  facts: { message },
  next: `wait, or see what ${family.placement.kind} "${placement.metadata.name}" says`,
});
