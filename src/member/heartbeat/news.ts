// Since when there is a change to report. Further changes that follow soon are reported together with it.

/** Changes are coalesced for this long before they are reported. */
export const GATHERING_MS = 1000;

/**
 * `began`: the previous result. `isNews` is called only when its result matters: at first, and when the report is due.
 */
export function newsSince(began: number | undefined, now: number, isNews: () => boolean): number | undefined {
  // Without the lower bound, a clock that was set back would delay the report for hours.
  const isGathering = began !== undefined && began <= now && now < began + GATHERING_MS;
  if (isGathering) return began;
  if (!isNews()) return undefined;
  return began === undefined || began > now ? now : began;
}
