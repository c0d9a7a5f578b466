// How often each fault hit each kind of write and each watch. A cell that remains zero proves nothing.
import { byText } from '../base/compare.ts';

export type Entry = readonly [row: string, fault: string, times: number];

export class Matrix {
  readonly #rows = new Map<string, Map<string, number>>();

  /** `row`: `create ConfigMap`, `watch ConfigMap`, `actor NAME` or `server NAME`; `fault`: a fault's name, or 'deliver'. */
  count(row: string, fault: string, times = 1): void {
    let cells = this.#rows.get(row);
    if (cells === undefined) {
      cells = new Map();
      this.#rows.set(row, cells);
    }
    cells.set(fault, (cells.get(fault) ?? 0) + times);
  }

  get(row: string, fault: string): number {
    return this.#rows.get(row)?.get(fault) ?? 0;
  }

  rows(): readonly string[] {
    return [...this.#rows.keys()].sort(byText);
  }

  /** The input of `from`, to send the matrix to another process. */
  toEntries(): readonly Entry[] {
    return [...this.#rows].flatMap(([row, cells]) => [...cells].map(([fault, times]): Entry => [row, fault, times]));
  }

  static from(entries: readonly Entry[]): Matrix {
    const matrix = new Matrix();
    for (const [row, fault, times] of entries) matrix.count(row, fault, times);
    return matrix;
  }

  add(other: Matrix): void {
    for (const [row, cells] of other.#rows) for (const [fault, times] of cells) this.count(row, fault, times);
  }

  /** Row and fault of each cell that was never hit although it could have been. */
  zeros(faultsOf: (row: string) => readonly string[]): readonly string[] {
    return this.rows().flatMap((row) =>
      faultsOf(row)
        .filter((fault) => this.get(row, fault) === 0)
        .map((fault) => `${row}: ${fault}`),
    );
  }

  /** As a table for users; a dot where a fault is impossible. */
  toLines(faultsOf: (row: string) => readonly string[]): readonly string[] {
    const rows = this.rows();
    const faults = ['deliver', ...new Set(rows.flatMap(faultsOf))];
    const cells = rows.map((row) => [
      row,
      ...faults.map((fault) =>
        fault === 'deliver' || faultsOf(row).includes(fault) ? String(this.get(row, fault)) : '.',
      ),
    ]);
    const table = [['', ...faults], ...cells];
    const widths = table[0]!.map((_, column) => Math.max(...table.map((line) => line[column]!.length)));
    return table.map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    );
  }
}
