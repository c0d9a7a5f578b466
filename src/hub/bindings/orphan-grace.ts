// How long an orphan is kept: a hub that is restored from a backup may get the children before their parents.
export const ORPHAN_GRACE_MS = 600_000;
