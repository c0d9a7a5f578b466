// Formats a server-side table as aligned text, like kubectl.
import type { KubeObject } from '../../api/object.ts';
import type { Json } from '../../base/json.ts';

export interface TableData {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly Json[]; readonly object?: KubeObject }[];
}

export function formatTable(
  table: TableData,
  options: { readonly wide: boolean; readonly withNamespace: boolean },
): string {
  const shown = table.columnDefinitions.flatMap((column, index) =>
    column.priority === 0 || options.wide ? [index] : [],
  );
  const header = shown.map((index) => table.columnDefinitions[index]?.name.toUpperCase() ?? '');
  const lines = table.rows.map((row) => shown.map((index) => cellText(row.cells[index])));
  if (options.withNamespace) {
    header.unshift('NAMESPACE');
    for (const [index, line] of lines.entries()) line.unshift(table.rows[index]?.object?.metadata.namespace ?? '');
  }
  return align([header, ...lines]);
}

const cellText = (cell: Json | undefined): string => (cell === null || cell === undefined ? '' : String(cell));

export function align(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}
