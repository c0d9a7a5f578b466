// The messages of decisions: why a cluster was picked, or not.
import type { ClusterDecision } from '../../api/cluster-decision.ts';
import type { Candidate, Rejection } from './filter.ts';
import type { Score } from './plugin.ts';

/**
 * Why a cluster was not picked, and which plugin rejected it. Without a plugin, it lost by its score or is not a
 * member.
 */
export interface Explained {
  readonly decision: ClusterDecision;
  readonly plugin?: string;
}

const scores = ({ affinity, topology }: Score): string =>
  `affinity score: ${affinity}, topology spread score: ${topology}`;

/** The score of every cluster that PickAll picks. */
const ZERO: ClusterDecision['clusterScore'] = Object.freeze({ affinityScore: 0, priorityScore: 0 });

const stored = ({ affinity, topology }: Score): ClusterDecision['clusterScore'] =>
  affinity === 0 && topology === 0 ? ZERO : { affinityScore: affinity, priorityScore: topology };

const noted = (notes: readonly string[]): string =>
  notes.length === 0 ? '' : notes.map((note) => `; ${note}`).join('');

export const picked = ({ name, notes, score: own }: Candidate, score = own): ClusterDecision => ({
  clusterName: name,
  selected: true,
  clusterScore: stored(score),
  reason: `cluster "${name}" is picked by the scheduling policy (${scores(score)})${noted(notes)}`,
});

export const named = (name: string, note?: string): ClusterDecision => ({
  clusterName: name,
  selected: true,
  reason: `cluster "${name}" is named by the scheduling policy${noted(note === undefined ? [] : [note])}`,
});

export const notPicked = ({ name, score, notes }: Candidate): Explained => ({
  decision: {
    clusterName: name,
    selected: false,
    clusterScore: stored(score),
    reason: `cluster "${name}" is not picked: others come before it (${scores(score)})${noted(notes)}`,
  },
});

export const FILTERED = 'ClusterUnschedulable, ';

export const filtered = ({ name, reason, plugin }: Rejection): Explained => ({
  decision: { clusterName: name, selected: false, reason: `${FILTERED}${reason}` },
  plugin,
});

export const ineligible = ({ name, reason, plugin }: Rejection): Explained => ({
  decision: {
    clusterName: name,
    selected: false,
    reason: `cluster "${name}" is named by the scheduling policy but not eligible: ${reason}`,
  },
  plugin,
});

export const notFound = (name: string): Explained => ({
  decision: {
    clusterName: name,
    selected: false,
    reason: `cluster "${name}" is named by the scheduling policy but is no member of the fleet`,
  },
});
