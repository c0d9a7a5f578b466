// The lists of a binding's status as the hub's cache keeps them: drifts and differences with the first of their details, since values may be
// large and only people read them. The digest represents the details that were dropped, so that a change of these is still noticed.
import type { BindingStatus } from '../../api/binding.ts';
import { type FieldDifference, omittedDetails } from '../../api/selected-resource.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';

type Lists = Pick<NonNullable<BindingStatus>, 'failedPlacements' | 'driftedPlacements' | 'diffedPlacements'>;

export interface KeptLists extends Lists {
  /** Of the lists as they were; absent = nothing was dropped. */
  readonly detailsDigest?: string;
}

const MAX_DETAIL_BYTES = 16 * 1024;

export function keptLists({ failedPlacements = [], driftedPlacements = [], diffedPlacements = [] }: Lists): KeptLists {
  const drifted = withoutLarge(driftedPlacements, 'observedDrifts');
  const diffed = withoutLarge(diffedPlacements, 'observedDiffs');
  const isComplete = drifted === driftedPlacements && diffed === diffedPlacements;
  return {
    ...(failedPlacements.length === 0 ? {} : { failedPlacements }),
    ...(drifted.length === 0 ? {} : { driftedPlacements: drifted }),
    ...(diffed.length === 0 ? {} : { diffedPlacements: diffed }),
    ...(isComplete ? {} : { detailsDigest: sha256(canonicalJson([driftedPlacements, diffedPlacements])) }),
  };
}

/** The same list if all of its details are small enough together. */
function withoutLarge<T extends { readonly [key in K]?: readonly FieldDifference[] }, K extends string>(
  list: readonly T[],
  key: K,
): readonly T[] {
  let bytes = 0;
  let isCut = false;
  const kept = list.map((each) => {
    const details = each[key];
    for (const { path, valueInHub = '', valueInMember = '' } of details ?? [])
      bytes += path.length + valueInHub.length + valueInMember.length;
    if (bytes <= MAX_DETAIL_BYTES || details === undefined) return each;
    isCut = true;
    return { ...each, [key]: omittedDetails(details) };
  });
  return isCut ? kept : list;
}
