// Which clusters belong to which partition, in rollout order. Pure: the same fleet gives the same partitions regardless
// of the order of the input.
// The rules are Rancher Fleet's (spec 08 §4): a cluster can be in several partitions, and a cluster that no manual
// partition matches is in none.

import { by } from '../base/compare.ts';
import { type IntOrPercent, partitionLimit } from '../base/int-or-percent.ts';
import { compileLabelSelector, type LabelSelector, type Selector } from '../base/selector.ts';
import { isNamed } from './cluster-name.ts';
import type { Labels } from './object.ts';

/** A ClusterGroup that contains a cluster. */
export interface GroupFacts {
  readonly name: string;
  readonly labels: Labels;
}

export interface PartitionMember {
  readonly cluster: string;
  readonly labels: Labels;
  readonly groups: readonly GroupFacts[];
}

export interface PartitionDefinition {
  readonly name?: string;
  readonly maxUnavailable?: IntOrPercent;
  readonly clusterName?: string;
  readonly clusterSelector?: LabelSelector;
  readonly clusterGroup?: string;
  readonly clusterGroupSelector?: LabelSelector;
}

export interface PartitionSettings {
  readonly maxUnavailable?: IntOrPercent;
  readonly autoPartitionSize?: IntOrPercent;
  readonly autoPartitionThreshold?: number;
  readonly partitions?: readonly PartitionDefinition[];
}

export interface Partition<T> {
  readonly name: string;
  readonly targets: readonly T[];
  /** How many of its clusters may be unavailable. */
  readonly max: number;
  /** The limit is set on the partition, not on the strategy. */
  readonly hasOwnMax: boolean;
}

export const DEFAULT_AUTO_PARTITION_SIZE = '25%';
export const DEFAULT_AUTO_PARTITION_THRESHOLD = 200;

/** Throws a UserError if a number or a selector is invalid: then nothing may be updated. */
export function partitionsOf<T extends PartitionMember>(
  settings: PartitionSettings,
  targets: readonly T[],
): readonly Partition<T>[] {
  const sorted = [...targets].sort(by(({ cluster }) => cluster));
  const { partitions: definitions = [] } = settings;
  return definitions.length > 0
    ? definitions.map((definition) => manualPartition(definition, settings, sorted))
    : automaticPartitions(settings, sorted);
}

function automaticPartitions<T>(settings: PartitionSettings, sorted: readonly T[]): readonly Partition<T>[] {
  const { autoPartitionSize, autoPartitionThreshold: threshold = DEFAULT_AUTO_PARTITION_THRESHOLD } = settings;
  const partition = (name: string, targets: readonly T[]): Partition<T> => ({
    name,
    targets,
    max: partitionLimit(targets.length, settings.maxUnavailable),
    hasOwnMax: false,
  });
  const isOne = typeof autoPartitionSize === 'number' && autoPartitionSize <= 0;
  if (isOne || threshold <= 0 || sorted.length < threshold) return [partition('All', sorted)];
  const size = partitionLimit(sorted.length, autoPartitionSize, DEFAULT_AUTO_PARTITION_SIZE);
  const count = Math.ceil(sorted.length / size);
  return Array.from({ length: count }, (_, index) => {
    const from = index * size;
    const to = Math.min(from + size, sorted.length);
    return partition(`Partition ${from} - ${to}`, sorted.slice(from, to));
  });
}

function manualPartition<T extends PartitionMember>(
  definition: PartitionDefinition,
  settings: PartitionSettings,
  sorted: readonly T[],
): Partition<T> {
  const matches = matcherOf(definition);
  const targets = sorted.filter(matches);
  return {
    name: definition.name ?? '',
    targets,
    max: partitionLimit(targets.length, definition.maxUnavailable, settings.maxUnavailable),
    hasOwnMax: definition.maxUnavailable !== undefined,
  };
}

/**
 * A cluster without a group is matched with an empty name and no labels, so a purely negative group selector matches
 * it.
 */
const NO_GROUP: GroupFacts = { name: '', labels: {} };

function matcherOf(definition: PartitionDefinition): (target: PartitionMember) => boolean {
  const { clusterName, clusterGroup, clusterSelector, clusterGroupSelector } = definition;
  const ofCluster = selectorOf(clusterSelector);
  const ofGroup = selectorOf(clusterGroupSelector);
  const hasGroupCriterion = isSet(clusterGroup) || ofGroup !== undefined;
  if (!isSet(clusterName) && ofCluster === undefined && !hasGroupCriterion) return () => false;
  return (target) => {
    const { labels, groups } = target;
    if (isSet(clusterName) && !isNamed(clusterName, target)) return false;
    if (ofCluster !== undefined && !ofCluster.matches(labels)) return false;
    if (!hasGroupCriterion) return true;
    return (groups.length === 0 ? [NO_GROUP] : groups).some(
      (group) =>
        (!isSet(clusterGroup) || clusterGroup === group.name) &&
        (ofGroup === undefined || ofGroup.matches(group.labels)),
    );
  };
}

const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';

const selectorOf = (selector: LabelSelector | undefined): Selector | undefined =>
  selector === undefined ? undefined : compileLabelSelector(selector);
