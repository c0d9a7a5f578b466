// Renders which clusters a policy would pick. Pure.
import { refText } from '../../api/object.ts';
import type { Standing } from '../../insight/forecast/scheduling-now.ts';
import { plainText } from '../../insight/plain-text.ts';
import { align } from '../terminal/format-table.ts';

export interface PlacementPlan {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly placementType: string;
  /** The hub would create a new policy snapshot, so that every cluster is evaluated again. */
  readonly isNewPolicy: boolean;
  readonly wanted: number;
  readonly found: number;
  readonly clusters: readonly PlannedCluster[];
  readonly notes: readonly string[];
}

export interface PlannedCluster {
  readonly cluster: string;
  readonly decision: Standing['is'];
  readonly affinityScore?: number;
  readonly topologySpreadScore?: number;
  /** The plugin that rejected it. */
  readonly plugin?: string;
  readonly reason: string;
}

/** The maximum number of clusters that are not picked. */
const MAX_OTHERS = 20;

const GETS: readonly PlannedCluster['decision'][] = ['picked', 'kept', 'removed'];

export function renderPlacementPlan(plan: PlacementPlan): string {
  const concerned = plan.clusters.filter(({ decision }) => GETS.includes(decision));
  const others = plan.clusters.filter(({ decision }) => !GETS.includes(decision));
  const shown = [...concerned, ...others.slice(0, MAX_OTHERS)];
  const more = others.length - MAX_OTHERS;
  return [
    summary(plan),
    ...(shown.length === 0 ? [] : ['', ...table(shown)]),
    ...(more > 0 ? [`and ${more} more that are not picked (-o json lists all)`] : []),
    ...(plan.notes.length === 0 ? [] : ['', 'Note:', ...plan.notes.map((each) => `  - ${each}`)]),
    '',
    'Nothing was written.',
  ]
    .map(plainText)
    .join('\n');
}

function summary({ clusters, wanted, found, placementType, ...plan }: PlacementPlan): string {
  const count = (decision: PlannedCluster['decision']) => clusters.filter((each) => each.decision === decision).length;
  const parts = [`${count('picked')} new`, `${count('kept')} kept`, `${count('removed')} removed`].join(', ');
  const of = placementType === 'PickAll' ? '' : ` of the ${wanted} that its policy asks for`;
  const noun = found === 1 && of === '' ? 'cluster' : 'clusters';
  return `${refText(plan)} would be placed on ${found} ${noun}${of} (${placementType}): ${parts}`;
}

function table(clusters: readonly PlannedCluster[]): readonly string[] {
  const score = (value: number | undefined) => (value === undefined ? '-' : String(value));
  const row = ({ cluster, decision, affinityScore, topologySpreadScore, plugin, reason }: PlannedCluster) => [
    cluster,
    decision,
    score(affinityScore),
    score(topologySpreadScore),
    decision === 'refused' || decision === 'not a member'
      ? `${plugin === undefined ? '' : `${plugin}: `}${plain(reason)}`
      : '',
  ];
  const header = ['CLUSTER', 'DECISION', 'AFFINITY', 'TOPOLOGY', 'REASON'];
  return align([header, ...clusters.map(row)].map((cells) => cells.map(plainText))).split('\n');
}

/** Without the scheduler's prefix, which the table shows already. */
const plain = (reason: string): string => reason.replace(/^ClusterUnschedulable, /, '');
