// How long an object without its parent is left alone: a hub that is restored from a backup may get the children first.
export const ORPHAN_GRACE_MS = 600_000;
