// The cached lists of a binding's status: drifts and differences keep only the first of their details, because values
// may be large and only users read them. The digest covers the dropped details, so that a change of them is still
// noticed.
import type { BindingStatus } from '../../api/binding.ts';
import { type FieldDifference, omittedDetails } from '../../api/selected-resource.ts';
import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';

type Lists = Pick<NonNullable<BindingStatus>, 'failedPlacements' | 'driftedPlacements' | 'diffedPlacements'>;

export interface KeptLists extends Lists {
  /** A digest of the complete lists; absent = nothing was dropped. */
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

/** The same list if all its details together are small enough. */
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
