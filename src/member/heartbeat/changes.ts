// Since when there is a change to report. Further changes that follow soon are reported together with it.

/** Changes are coalesced for this long before they are reported. */
export const COALESCE_MS = 1000;

/**
 * `began`: the previous result. `isChanged` is called only when its result matters: at first, and when the report is due.
 */
export function changedSince(began: number | undefined, now: number, isChanged: () => boolean): number | undefined {
  // Without the lower bound, a clock that was set back would delay the report for hours.
  const isCoalescing = began !== undefined && began <= now && now < began + COALESCE_MS;
  if (isCoalescing) return began;
  if (!isChanged()) return undefined;
  return began === undefined || began > now ? now : began;
}
