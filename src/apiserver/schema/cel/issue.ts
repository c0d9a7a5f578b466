// Errors in an expression with their position, in the layout of cel-go.

export interface Issue {
  /** Offset in the source. */
  readonly at: number;
  readonly text: string;
}

export class CompileError extends Error {
  override readonly name = 'CompileError';
}

export function describeIssues(source: string, issues: readonly Issue[]): string {
  const sorted = issues.toSorted((a, b) => a.at - b.at);
  return sorted
    .map(({ at, text }) => {
      const before = source.slice(0, at);
      const line = before.split('\n').length;
      const column = at - (before.lastIndexOf('\n') + 1);
      const shown = (source.split('\n')[line - 1] ?? '').replaceAll('\t', ' ');
      return `ERROR: <input>:${line}:${column + 1}: ${text}\n | ${shown}\n | ${'.'.repeat(column)}^`;
    })
    .join('\n');
}
