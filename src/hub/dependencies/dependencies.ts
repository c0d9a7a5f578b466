// Dependencies between placements (spec 09 §9): why each cluster waits. Pure. Guarantee: a cluster proceeds only once
// every placement that a dependency matches has an accepted state there, at its own newest revision.
import type { Hold } from '../../api/hold.ts';
import { memberCluster } from '../../api/member-cluster.ts';
import type { Labels, ObjectRef } from '../../api/object.ts';
import type { PlacementDependency } from '../../api/placement.ts';
import type { RolloutWord } from '../../api/rollout-state.ts';
import { compileLabelSelector } from '../../base/selector.ts';

export interface DependencyFacts {
  readonly ref: ObjectRef;
  readonly labels: Labels;
  /** undefined = it is not placed there. */
  stateOn(cluster: string): RolloutWord | undefined;
}

export interface DependenciesInput {
  readonly dependsOn: readonly PlacementDependency[];
  /** Other placements of the same kind and namespace. */
  readonly others: readonly DependencyFacts[];
  /** A reference by name if no placement matches. */
  refOf(name: string): ObjectRef;
}

const DEFAULT_STATES: readonly RolloutWord[] = ['Ready'];

export function holdsOf({ dependsOn, others, refOf }: DependenciesInput): (cluster: string) => Hold | undefined {
  const resolved = dependsOn.map((dependency) => ({
    accepted: dependency.acceptedStates?.length ? dependency.acceptedStates : DEFAULT_STATES,
    found: others.filter((each) => matches(dependency, each)),
    /** Names the dependency while nothing matches it. */
    ref: refOf(dependency.name === undefined || dependency.name === '' ? '*' : dependency.name),
  }));
  return (cluster) => {
    for (const { accepted, found, ref } of resolved) {
      const placed = found.filter((each) => each.stateOn(cluster) !== undefined);
      if (placed.length === 0) return holdFor(cluster, found[0]?.ref ?? ref, {}, 'place it on this cluster too');
      for (const each of placed) {
        const state = each.stateOn(cluster) as RolloutWord;
        if (accepted.includes(state)) continue;
        const advice = `flotilla why placement/${each.ref.name} --cluster ${cluster}`;
        return holdFor(cluster, each.ref, { state, accepted: accepted.join(' or ') }, advice);
      }
    }
    return undefined;
  };
}

const matches = ({ name = '', selector }: PlacementDependency, { ref, labels }: DependencyFacts): boolean =>
  (name !== '' || selector !== undefined) &&
  (name === '' || ref.name === name) &&
  (selector === undefined || compileLabelSelector(selector).matches(labels));

const holdFor = (cluster: string, on: ObjectRef, facts: Hold['facts'], next: string): Hold => ({
  code: 'DependencyNotReady',
  subject: { group: memberCluster.group, kind: memberCluster.kind, name: cluster },
  on,
  facts,
  next,
});
