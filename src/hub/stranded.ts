// How long what has lost its parent is left alone: whoever brings a hub back from a backup may bring the children first.
export const STRANDED_MS = 600_000;
