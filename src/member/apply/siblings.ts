// Works of the same binding: which of them an object belongs to. Pure.
// Guarantee: an object that moves from one Work of a binding to another is handed over with its owner reference; it is
// never deleted and created again (docs/adr/0014-hand-over-between-works.md).
import { annotations, labels } from '../../api/names.ts';
import { type ObjectMeta, refText } from '../../api/object.ts';
import { byText } from '../../base/compare.ts';
import type { AgentWork } from '../sources.ts';
import { type Identifier, identityOf } from './manifest.ts';

export interface Siblings {
  /**
   * The other Work must hand the object over: it is being deleted, no longer names the object, or is of an earlier
   * generation of the binding.
   */
  yields(work: string, identifier: Identifier): boolean;
  /** Another Work names the object, or may name it once its manifests of this revision arrive. */
  isClaimed(identifier: Identifier): boolean;
  /**
   * Where the placement contains an object that both Works name; undefined = the other Work belongs to another binding.
   */
  bothPlaces(work: string): string | undefined;
}

/** `all`: with identities for the Works of the same binding. */
export function siblingsOf(own: AgentWork, all: readonly AgentWork[]): Siblings {
  const others = all.filter((each) => areSiblings(own, each));
  const isEarlier = (a: AgentWork, b: AgentWork) => revisionOf(a) !== revisionOf(b) && orderOf(a) < orderOf(b);
  return {
    yields(name, identifier) {
      const other = others.find(({ metadata }) => metadata.name === name);
      return other !== undefined && (isDeleting(other) || !names(other, identifier) || isEarlier(other, own));
    },
    isClaimed: (identifier) =>
      others.some(
        (each) => !isDeleting(each) && (names(each, identifier) || (!isDeleting(own) && isEarlier(each, own))),
      ),
    bothPlaces(name) {
      const other = others.find(({ metadata }) => metadata.name === name);
      return (
        other &&
        [own, other]
          .map(({ metadata }) => placeOf(metadata))
          .toSorted(byText)
          .join(' and ')
      );
    },
  };
}

/** The part of the placement that a Work contains. */
function placeOf({ labels: all = {} }: ObjectMeta): string {
  const { [labels.envelopeWork]: kind, [labels.envelopeName]: name, [labels.envelopeNamespace]: namespace } = all;
  if (kind === undefined || name === undefined) return 'outside any envelope';
  return `in ${refText({ kind, name, ...(namespace === undefined ? {} : { namespace }) })}`;
}

export const areSiblings = (own: AgentWork, other: AgentWork): boolean =>
  other.metadata.name !== own.metadata.name &&
  bindingOf(own.metadata) !== undefined &&
  bindingOf(own.metadata) === bindingOf(other.metadata);

const bindingOf = ({ labels: all }: ObjectMeta): string | undefined => {
  const binding = all?.[labels.parentBinding];
  return binding === undefined ? undefined : `${all?.[labels.parentPlacementNamespace] ?? ''}/${binding}`;
};

const isDeleting = ({ metadata }: AgentWork): boolean => metadata.deletionTimestamp !== undefined;

const names = ({ identities }: AgentWork, identifier: Identifier): boolean =>
  identities?.has(identityOf(identifier)) ?? false;

const revisionOf = ({ metadata }: AgentWork): string | undefined =>
  metadata.annotations?.[annotations.parentResourceSnapshotName];

/** The generation of the binding that the Work was generated from. */
const orderOf = ({ metadata }: AgentWork): number =>
  Number(metadata.annotations?.[annotations.orderedBy]?.split('/')[1] ?? 0);
