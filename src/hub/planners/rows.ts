// Bindings as planners see them.
import type { MemberCluster } from '../../api/member-cluster.ts';
import { conditionOf } from '../../api/next-condition.ts';
import type { Labels } from '../../api/object.ts';
import { by } from '../../base/compare.ts';
import { canonicalJson } from '../../base/json.ts';
import { seen } from '../../runtime/actions.ts';
import type { Source } from '../../runtime/controller.ts';
import { applyStrategyOf } from '../apply-strategy.ts';
import type { HubBinding, HubPlacement } from '../placement-sources.ts';
import { isReachable } from '../reachable.ts';
import { type Judgement, judge } from './health.ts';
import type { Revision, Row } from './planner.ts';

export interface MemberFacts {
  readonly reachable: boolean;
  /** Since when the hub does not hear it. */
  readonly silentSince?: number;
  readonly labels: Labels;
}

/** The same of the same member: whoever looks at many of them again can tell by that. */
export function memberFactsOf(member: MemberCluster): MemberFacts {
  let facts = ofMembers.get(member);
  if (facts === undefined) {
    facts = factsIn(member);
    ofMembers.set(member, facts);
  }
  return facts;
}

const ofMembers = new WeakMap<MemberCluster, MemberFacts>();

function factsIn(member: MemberCluster): MemberFacts {
  const labels = member.metadata.labels ?? {};
  if (isReachable(member)) return { reachable: true, labels };
  const silentSince = Date.parse(conditionOf(member.status?.conditions, 'Healthy')?.lastTransitionTime ?? '');
  return { reachable: false, ...(Number.isNaN(silentSince) ? {} : { silentSince }), labels };
}

export interface RowsInput {
  readonly placement: Pick<HubPlacement, 'spec'>;
  readonly bindings: readonly HubBinding[];
  readonly source: Source<HubBinding>;
  /** Name of the newest resource snapshot. */
  readonly snapshot: string;
  /** What a cluster should have, if that is not the same for all. */
  wantsOf?(cluster: string): Revision | undefined;
  member(cluster: string): MemberFacts | undefined;
}

const STATES = { Scheduled: 'scheduled', Bound: 'bound', Unscheduled: 'unscheduled' } as const;

/** Of what was given up on a member that is gone nobody will report again: it serves nobody, and taking it away costs nothing. */
const LOST: Judgement = { health: 'failed', since: 0, why: 'its MemberCluster is gone' };

/** Ordered by name, which is the order of clusters. */
export function rowsOf({ placement, bindings, source, snapshot, wantsOf, member }: RowsInput): readonly Row[] {
  const wants: Revision = { snapshot, overrides: '', strategy: canonicalJson(applyStrategyOf(placement)) };
  return bindings
    .map((binding) =>
      rowOf(binding, {
        source,
        wants: wantsOf?.(binding.spec.targetCluster) ?? wants,
        facts: member(binding.spec.targetCluster),
      }),
    )
    .sort(by(({ key }) => key));
}

interface Around {
  readonly source: Source<HubBinding>;
  readonly wants: Revision;
  readonly facts: MemberFacts | undefined;
}

/** Bindings are immutable, and a rollout over many looks at all of them again whenever one changes. */
function rowOf(binding: HubBinding, around: Around): Row {
  const { source, wants, facts } = around;
  const known = knownRows.get(binding);
  if (known?.source === source && known.facts === facts && isSameRevision(known.wants, wants)) return known.row;
  const { metadata, spec } = binding;
  const isLost = facts === undefined && spec.state === 'Unscheduled';
  const row: Row = {
    key: metadata.name ?? '',
    cluster: spec.targetCluster,
    binding: seen(source, binding),
    state: STATES[spec.state],
    deleting: metadata.deletionTimestamp !== undefined,
    ...(spec.resourceSnapshotName === '' ? {} : { has: revisionOf(binding) }),
    ...(isReleased(binding) ? { released: true } : {}),
    ...(isLost ? LOST : judge(binding)),
    wants,
    reachable: facts?.reachable ?? false,
    ...(facts?.silentSince === undefined ? {} : { silentSince: facts.silentSince }),
    labels: facts?.labels ?? {},
  };
  knownRows.set(binding, { ...around, row });
  return row;
}

const knownRows = new WeakMap<HubBinding, Around & { readonly row: Row }>();

const isSameRevision = (a: Revision, b: Revision): boolean =>
  a.snapshot === b.snapshot && a.overrides === b.overrides && a.strategy === b.strategy;

const isReleased = ({ metadata, conditions }: HubBinding): boolean => {
  const started = conditionOf(conditions, 'RolloutStarted');
  return started?.status === 'True' && started.observedGeneration === metadata.generation;
};

const revisionOf = ({ spec }: HubBinding): Revision => ({
  snapshot: spec.resourceSnapshotName,
  overrides: overridesOf(spec),
  strategy: spec.applyStrategy === undefined ? '' : canonicalJson(spec.applyStrategy),
});

/** Both lists in order; absent and empty are the same, and the same text as "none wanted". */
export const overridesOf = ({
  clusterResourceOverrideSnapshots: cluster = [],
  resourceOverrideSnapshots: namespaced = [],
}: Pick<HubBinding['spec'], 'clusterResourceOverrideSnapshots' | 'resourceOverrideSnapshots'>): string =>
  cluster.length === 0 && namespaced.length === 0 ? '' : canonicalJson({ cluster, namespaced });
