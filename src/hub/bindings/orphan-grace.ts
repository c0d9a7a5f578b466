// How long what has lost its parent is left alone: whoever brings a hub back from a backup may bring the children first.
export const ORPHAN_GRACE_MS = 600_000;
