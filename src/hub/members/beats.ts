// When the hub saw the newest heartbeat of a member, by its own clock. In memory on purpose: after a restart the count
// restarts, because the hub cannot know how long it was down.
export interface Beat {
  readonly uid: string;
  readonly stamp: string;
  readonly seenAt: number;
}

/** Returns `last` if the stamp has not changed. */
export function beatSeen(
  last: Beat | undefined,
  { uid, stamp, now }: { readonly uid: string; readonly stamp: string; readonly now: number },
): Beat {
  // Any different stamp counts, even an earlier one: the member's clock may have been set back.
  const isSame = last !== undefined && last.uid === uid && last.stamp === stamp;
  // If the hub's own clock was set back, the count restarts instead of lasting for hours.
  return isSame && last.seenAt <= now ? last : { uid, stamp, seenAt: now };
}
