// The differing lines of two texts, in the unified format of diff and kubectl diff. Pure.

const CONTEXT = 3;
/** Above this many pairs of lines, the changed part is shown as replaced as a whole. */
const MAX_PAIRS = 4_000_000;

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** Empty = they are equal. */
export function unifiedDiff(before: string, after: string): readonly string[] {
  const lines = marked(linesOf(before), linesOf(after));
  return hunksOf(lines).flatMap(({ from, to }) => {
    const until = (at: number, mark: '-' | '+') => lines.slice(0, at).filter((each) => each.mark !== mark).length;
    const part = lines.slice(from, to);
    const old = part.filter(({ mark }) => mark !== '+').length;
    const fresh = part.filter(({ mark }) => mark !== '-').length;
    const start = (count: number, seen: number) => (count === 0 ? seen : seen + 1);
    return [
      `@@ -${start(old, until(from, '+'))},${old} +${start(fresh, until(from, '-'))},${fresh} @@`,
      ...part.map(({ mark, text }) => `${mark}${text}`),
    ];
  });
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

function marked(before: readonly string[], after: readonly string[]): readonly Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - head;
  while (tail < shorter && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = (text: string): Line => ({ mark: ' ', text });
  return [
    ...before.slice(0, head).map(same),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const removed = before.map((text): Line => ({ mark: '-', text }));
  const added = after.map((text): Line => ({ mark: '+', text }));
  if (before.length * after.length > MAX_PAIRS) return [...removed, ...added];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const isSame = before[row] === after[column];
      const longest = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      lengths[row * width + column] = longest;
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      lines.push({ mark: ' ', text: before[row] as string });
      row++;
      column++;
    } else if (at(row + 1, column) >= at(row, column + 1)) lines.push(removed[row++] as Line);
    else lines.push(added[column++] as Line);
  }
  return [...lines, ...removed.slice(row), ...added.slice(column)];
}

/** Changed lines with their context; overlapping hunks are merged. */
function hunksOf(lines: readonly Line[]): readonly { readonly from: number; readonly to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [at, { mark }] of lines.entries()) {
    if (mark === ' ') continue;
    const [from, to] = [Math.max(0, at - CONTEXT), Math.min(lines.length, at + CONTEXT + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  }
  return hunks;
}
