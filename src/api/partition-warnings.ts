// Settings of a partitioned rollout that are accepted and protect nothing, or have another meaning than expected: the
// author gets a warning. Based on the current member clusters and groups; the status reports later changes. Pure.
import { byText } from '../base/compare.ts';
import { type IntOrPercent, partitionLimit } from '../base/int-or-percent.ts';
import { deepEqual } from '../base/json.ts';
import { compileLabelSelector } from '../base/selector.ts';
import { type ClusterGroup, clusterGroup } from './cluster-group.ts';
import type { AdmitQuestion, AdmitRead, AdmitRequest, Admitted, ReadOnly } from './kind.ts';
import { type MemberCluster, memberCluster } from './member-cluster.ts';
import type { PartitionedStrategy } from './partitioned-strategy.ts';
import {
  DEFAULT_AUTO_PARTITION_THRESHOLD,
  type GroupFacts,
  type Partition,
  type PartitionMember,
  partitionsOf,
} from './partitions.ts';
import type { PlacementSpec, PlacementStatus } from './placement.ts';

type Question = AdmitQuestion<PlacementSpec, PlacementStatus>;
type Admit = (request: AdmitRequest<PlacementSpec, PlacementStatus>) => Admitted;

const AT = 'spec.strategy.partitioned';
const MAX_NAMES = 5;

/** The spec if its partitions are new or changed; undefined = no warnings are needed. */
function changed({ verb, subresource, object, old }: Question): PlacementSpec | undefined {
  const spec = object?.spec;
  if (verb === 'delete' || subresource !== undefined || spec?.strategy?.type !== 'Partitioned') return undefined;
  const before = old?.spec;
  const isSame =
    before?.strategy?.type === 'Partitioned' &&
    deepEqual(spec.strategy.partitioned, before.strategy.partitioned) &&
    deepEqual(spec.policy, before.policy);
  return isSame ? undefined : spec;
}

/** The spec if its policy is new or changed and names groups. */
function withNewGroups({ verb, subresource, object, old }: Question): PlacementSpec | undefined {
  const spec = object?.spec;
  if (verb === 'delete' || subresource !== undefined || spec === undefined) return undefined;
  const isNamed = requiredTermsOf(spec).some(({ clusterGroup: group = '' }) => group !== '');
  return isNamed && !deepEqual(spec.policy, old?.spec?.policy) ? spec : undefined;
}

export const partitionReads = (question: Question): readonly AdmitRead[] => {
  if (changed(question) !== undefined) return [{ resource: memberCluster }, { resource: clusterGroup }];
  return withNewGroups(question) === undefined ? [] : [{ resource: clusterGroup }];
};

/** The same admission, with a warning for each setting that does not have the expected effect. */
export const warningOfPartitions =
  (admit: Admit): Admit =>
  (request) => {
    const admitted = admit(request);
    if (!admitted.ok) return admitted;
    const named = withNewGroups(request);
    const spec = changed(request);
    const warnings = [
      ...(named === undefined ? [] : missingPolicyGroups(named, groupNamesIn(request.lookup))),
      ...(spec === undefined ? [] : partitionWarnings(spec, fleetIn(request.lookup))),
    ];
    return warnings.length === 0 ? admitted : { ...admitted, warnings: [...admitted.warnings, ...warnings] };
  };

const groupNamesIn = (lookup: ReadOnly): readonly string[] =>
  lookup.list(clusterGroup).map(({ metadata }) => metadata.name ?? '');

const TERMS =
  'spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution.clusterSelectorTerms';

const requiredTermsOf = ({ policy }: Pick<PlacementSpec, 'policy'>) =>
  policy?.affinity?.clusterAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.clusterSelectorTerms ?? [];

export interface Fleet {
  readonly members: readonly PartitionMember[];
  readonly groupNames: readonly string[];
}

function fleetIn(lookup: ReadOnly): Fleet {
  const groups = lookup.list(clusterGroup).map((object) => {
    const { metadata, spec } = object as ClusterGroup;
    const selector = spec?.selector && compileLabelSelector(spec.selector);
    return { name: metadata.name ?? '', labels: metadata.labels ?? {}, selector };
  });
  const members = lookup.list(memberCluster).map((object): PartitionMember => {
    const { metadata } = object as MemberCluster;
    const own: readonly GroupFacts[] = groups.filter(({ selector }) => selector?.matches(metadata.labels) ?? false);
    return { cluster: metadata.name ?? '', labels: metadata.labels ?? {}, groups: own };
  });
  return { members, groupNames: groups.map(({ name }) => name) };
}

export function partitionWarnings(spec: PlacementSpec, fleet: Fleet): readonly string[] {
  const settings = spec.strategy?.partitioned ?? {};
  const targets = targetsOf(spec, fleet.members);
  return [
    ...unprotected(settings),
    ...oddNumbers(settings),
    ...missingGroups(settings, fleet.groupNames),
    ...(targets === undefined ? [] : membershipWarnings(settings, targets)),
  ];
}

/**
 * The clusters that the policy currently picks, as far as it uses only labels; undefined = it uses more than labels.
 */
function targetsOf(spec: PlacementSpec, members: readonly PartitionMember[]) {
  const { policy } = spec;
  if (policy?.placementType === 'PickN') return undefined;
  if (policy?.placementType === 'PickFixed') {
    const names = new Set(policy.clusterNames ?? []);
    return members.filter(({ cluster }) => names.has(cluster));
  }
  const terms = requiredTermsOf(spec);
  if (terms.some(({ labelSelector, ...others }) => Object.keys(others).length > 0)) return undefined;
  const selectors = terms.map(({ labelSelector }) => compileLabelSelector(labelSelector ?? {}));
  return members.filter(({ labels }) => terms.length === 0 || selectors.some((each) => each.matches(labels)));
}

const isAll = (value: IntOrPercent | undefined): boolean =>
  value === undefined || (typeof value === 'string' && value.endsWith('%') && Number.parseFloat(value) >= 100);

function unprotected(settings: PartitionedStrategy): readonly string[] {
  const { maxUnavailable, maxUnavailablePartitions, autoPartitionSize, partitions = [] } = settings;
  const limits =
    partitions.length > 0 ? partitions.map((each) => each.maxUnavailable ?? maxUnavailable) : [maxUnavailable];
  const isPartitioned =
    maxUnavailablePartitions !== undefined || autoPartitionSize !== undefined || partitions.length > 0;
  if (!isPartitioned || !limits.every(isAll)) return [];
  return [
    `${AT}.maxUnavailable is 100%${maxUnavailable === undefined ? ' (the default)' : ''}: every partition counts as ready at once, so no partition waits for an earlier one; set maxUnavailable, such as 10%`,
  ];
}

function oddNumbers(settings: PartitionedStrategy): readonly string[] {
  const { partitions = [], maxNew, mode, autoPartitionSize } = settings;
  const limits: readonly (readonly [field: string, value: IntOrPercent | undefined])[] = [
    ['maxUnavailable', settings.maxUnavailable],
    ...partitions.map((each, index) => [`partitions[${index}].maxUnavailable`, each.maxUnavailable] as const),
  ];
  const numbers = [
    ...limits,
    ['maxUnavailablePartitions', settings.maxUnavailablePartitions] as const,
    ...(partitions.length > 0 ? [] : [['autoPartitionSize', autoPartitionSize] as const]),
  ];
  return [
    ...limits.flatMap(([field, value]) =>
      mode === 'FleetExact' && typeof value === 'number' && value <= 0
        ? [`${AT}.${field} is ${value}: with mode FleetExact an update of clusters that work never starts`]
        : [],
    ),
    ...numbers.flatMap(([field, value]) => oddNumber(`${AT}.${field}`, value)),
    ...(maxNew === 0 ? [`${AT}.maxNew is 0: no cluster starts`] : []),
    ...(partitions.length > 0 && autoPartitionSize !== undefined
      ? [`${AT}.autoPartitionSize has no effect: partitions are listed`]
      : []),
    ...partitions.flatMap(({ name, clusterName, clusterSelector, clusterGroup: group, clusterGroupSelector }, index) =>
      !clusterName && !group && clusterSelector === undefined && clusterGroupSelector === undefined
        ? [`${AT}.partitions[${index}] "${name ?? ''}" has no criterion: it is empty; clusterSelector: {} matches all`]
        : [],
    ),
  ];
}

function oddNumber(field: string, value: IntOrPercent | undefined): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return value < 0 ? [`${field} is ${value}: it counts as 0`] : [];
  if (!value.endsWith('%')) return [];
  const percent = Number.parseFloat(value);
  if (percent > 100) return [`${field} is ${value}: it counts as 100%`];
  return percent <= 0 ? [`${field} is ${value}: it counts as 1; write the number 0 for none`] : [];
}

/** For the required affinity terms. */
function missingPolicyGroups(spec: PlacementSpec, known: readonly string[]): readonly string[] {
  return requiredTermsOf(spec).flatMap(({ clusterGroup: group = '' }, index) =>
    group === '' || known.includes(group)
      ? []
      : [`${TERMS}[${index}].clusterGroup: there is no ClusterGroup "${group}" now; the term matches no cluster`],
  );
}

function missingGroups({ partitions = [] }: PartitionedStrategy, known: readonly string[]): readonly string[] {
  return partitions.flatMap(({ clusterGroup: group = '' }, index) =>
    group === '' || known.includes(group)
      ? []
      : [`${AT}.partitions[${index}].clusterGroup: there is no ClusterGroup "${group}" now; the partition is empty`],
  );
}

function membershipWarnings(settings: PartitionedStrategy, targets: readonly PartitionMember[]): readonly string[] {
  if (targets.length === 0) return [];
  const built = partitionsOf(settings, targets);
  return settings.partitions === undefined || settings.partitions.length === 0
    ? automaticWarnings(settings, targets.length, built)
    : manualWarnings(settings, targets, built);
}

function automaticWarnings(
  settings: PartitionedStrategy,
  count: number,
  built: readonly Partition<PartitionMember>[],
): readonly string[] {
  const { autoPartitionThreshold: threshold = DEFAULT_AUTO_PARTITION_THRESHOLD } = settings;
  const without = (['autoPartitionSize', 'maxUnavailablePartitions'] as const).filter(
    (field) => settings[field] !== undefined && settings[field] !== 0,
  );
  return [
    ...(count < threshold && without.length > 0
      ? [
          `${AT}: ${clusters(count)} are fewer than autoPartitionThreshold (${threshold}), so there is one partition; ${without.join(' and ')} ${without.length === 1 ? 'has' : 'have'} no effect`,
        ]
      : []),
    ...roundedWarnings(`${AT}.maxUnavailable`, settings.maxUnavailable, built),
  ];
}

function manualWarnings(
  settings: PartitionedStrategy,
  targets: readonly PartitionMember[],
  built: readonly Partition<PartitionMember>[],
): readonly string[] {
  const times = new Map<PartitionMember, number>();
  for (const { targets: own } of built) for (const each of own) times.set(each, (times.get(each) ?? 0) + 1);
  const inSeveral = targets.filter((each) => (times.get(each) ?? 0) > 1);
  const inNone = targets.filter((each) => !times.has(each));
  return [
    ...(inSeveral.length === 0
      ? []
      : [`${AT}.partitions: ${named(inSeveral)} in several partitions and count in each of them`]),
    ...(inNone.length === 0 ? [] : [`${AT}.partitions: ${named(inNone)} in no partition and will not be updated`]),
    ...built.flatMap((partition, index) => {
      const definition = settings.partitions?.[index];
      const hasCriterion = definition?.clusterSelector !== undefined || definition?.clusterGroupSelector !== undefined;
      const field = `${AT}.partitions[${index}]`;
      if (partition.targets.length === 0) {
        return hasCriterion || definition?.clusterName
          ? [`${field} "${partition.name}" is empty now: no cluster of the placement matches`]
          : [];
      }
      return definition?.maxUnavailable === undefined
        ? []
        : roundedWarnings(`${field}.maxUnavailable`, definition.maxUnavailable, [partition]);
    }),
    ...roundedWarnings(
      `${AT}.maxUnavailable`,
      settings.maxUnavailable,
      built.filter(({ hasOwnMax, targets: own }) => !hasOwnMax && own.length > 0),
    ),
  ];
}

/** A percentage of a small partition is rounded down, but to at least 1, which is more than the given percentage. */
function roundedWarnings(
  field: string,
  value: IntOrPercent | undefined,
  built: readonly Partition<PartitionMember>[],
): readonly string[] {
  if (typeof value === 'number' || value === undefined) return [];
  const sizes = built.map(({ targets }) => targets.length);
  if (!value.endsWith('%')) {
    const small = sizes.find((size) => partitionLimit(size, value) > size);
    return small === undefined ? [] : [`${field} is "${value}": a partition has only ${clusters(small)}`];
  }
  const percent = Number.parseFloat(value);
  const rounded = percent <= 0 ? undefined : sizes.find((size) => size * percent < 100);
  return rounded === undefined
    ? []
    : [`${field} is ${value}: of ${clusters(rounded)} that is less than one, and counts as 1`];
}

const clusters = (count: number): string => (count === 1 ? '1 cluster' : `${count} clusters`);

function named(targets: readonly PartitionMember[]): string {
  const names = targets.map(({ cluster }) => cluster).toSorted(byText);
  const rest = names.length - MAX_NAMES;
  const list = names.slice(0, MAX_NAMES).join(', ');
  return `${clusters(names.length)} (${list}${rest > 0 ? `, and ${rest} more` : ''}) ${names.length === 1 ? 'is' : 'are'}`;
}
