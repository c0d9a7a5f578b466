// Colors the words for states. Only whole cells of a table and the label of a line are colored, so that a message that
// contains such a word is not.

export type Paint = (text: string) => string;

const GREEN = 32;
const YELLOW = 33;
const RED = 31;

const COLORS: Readonly<Record<string, number>> = {
  Available: GREEN,
  Complete: GREEN,
  Compared: GREEN,
  Done: GREEN,
  Ready: GREEN,
  Succeeded: GREEN,
  Applied: YELLOW,
  Applying: YELLOW,
  Approved: YELLOW,
  AwaitingApproval: YELLOW,
  Comparing: YELLOW,
  Frozen: YELLOW,
  Leaving: YELLOW,
  NotAvailable: YELLOW,
  Paused: YELLOW,
  Pending: YELLOW,
  Running: YELLOW,
  Stopped: YELLOW,
  Updating: YELLOW,
  Waiting: YELLOW,
  ApplyFailed: RED,
  Blocked: RED,
  CompareFailed: RED,
  Failed: RED,
  Failing: RED,
  OverrideFailed: RED,
  Rejected: RED,
  Stuck: RED,
  Unhealthy: RED,
  Unreachable: RED,
};

const WORDS = Object.keys(COLORS).join('|');
const CELL = new RegExp(`(?<=^| {2})(${WORDS})(?= {2}|:|$)`, 'gm');

export const colored: Paint = (text) => text.replace(CELL, (word) => `\u001b[${COLORS[word]}m${word}\u001b[0m`);
export const plain: Paint = (text) => text;

export const COLOR_MODES = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

/** `noColor`: the environment variable NO_COLOR, which counts unless it is empty (no-color.org). */
export function paintFor(mode: ColorMode, isTerminal: boolean, noColor: string | undefined): Paint {
  if (mode !== 'auto') return mode === 'always' ? colored : plain;
  return isTerminal && (noColor === undefined || noColor === '') ? colored : plain;
}
