// When the hub saw the newest heartbeat of each member, by its own clock. Kept in memory on purpose: after a restart the count begins anew,
// since nobody knows how long the hub itself was away.
export interface Beats {
  /** Notes what is there now; returns since when it has been there. */
  seen(cluster: string, beat: { readonly uid: string; readonly stamp: string; readonly now: number }): number;
  forget(cluster: string): void;
  readonly size: number;
}

interface Noted {
  readonly uid: string;
  readonly stamp: string;
  readonly at: number;
}

export function createBeats(): Beats {
  const noted = new Map<string, Noted>();
  return {
    seen(cluster, { uid, stamp, now }) {
      const last = noted.get(cluster);
      // Any other stamp is news, an earlier one, too: the member's clock may have been set back.
      if (last !== undefined && last.uid === uid && last.stamp === stamp) {
        // If the hub's own clock was set back, the count begins anew instead of lasting for hours.
        if (last.at <= now) return last.at;
      }
      noted.set(cluster, { uid, stamp, at: now });
      return now;
    },
    forget(cluster) {
      noted.delete(cluster);
    },
    get size() {
      return noted.size;
    },
  };
}
