// A benchmark's rows: a ratio against a baseline of the same run, its bound, and the absolute figures beside it.

export interface Row {
  readonly name: string;
  readonly ratio: number;
  /** `>= 0.5` or `<= 2`; absent = only told. */
  readonly bound?: { readonly atLeast: number } | { readonly atMost: number };
  readonly figures: string;
}

export const isKept = ({ ratio, bound }: Row): boolean =>
  bound === undefined || ('atLeast' in bound ? ratio >= bound.atLeast : ratio <= bound.atMost);

const boundText = ({ bound }: Row): string =>
  bound === undefined ? '' : 'atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;

export function printRow(row: Row): void {
  const verdict = row.bound === undefined ? '  ' : isKept(row) ? 'ok' : 'NO';
  console.log(
    `${verdict}  ${row.name.padEnd(46)} ${row.ratio.toFixed(2).padStart(7)}  ${boundText(row).padEnd(14)} ${row.figures}`,
  );
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] as number;
