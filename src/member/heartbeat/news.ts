// Since when there is something to report. What comes soon after is reported with it: changes seldom come alone.

/** Changes are coalesced for so long before they are reported. */
export const GATHERING_MS = 1000;

/** `began`: what this returned before. `isNews` is asked only when the answer counts: at first, and when it is time to report. */
export function newsSince(began: number | undefined, now: number, isNews: () => boolean): number | undefined {
  // A clock that was set back must not make it wait for hours.
  const isGathering = began !== undefined && began <= now && now < began + GATHERING_MS;
  if (isGathering) return began;
  if (!isNews()) return undefined;
  return began === undefined || began > now ? now : began;
}
