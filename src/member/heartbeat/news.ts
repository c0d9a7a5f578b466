// Since when there is something to tell. What comes soon after is told with it: changes seldom come alone.
export interface News {
  /** `isNews` is asked only when the answer counts: at first, and when it is time to tell. */
  since(now: number, isNews: () => boolean): number | undefined;
}

/** Things are gathered for so long before they are told. */
export const GATHERING_MS = 1000;

export function createNews(): News {
  let began: number | undefined;
  return {
    since(now, isNews) {
      // A clock that was set back must not make it wait for hours.
      const isGathering = began !== undefined && began <= now && now < began + GATHERING_MS;
      if (isGathering) return began;
      if (!isNews()) began = undefined;
      else if (began === undefined || began > now) began = now;
      return began;
    },
  };
}
