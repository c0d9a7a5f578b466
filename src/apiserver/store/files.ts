// Names in a data directory. Segment n contains the writes after snapshot n; snapshot n contains everything from the
// segments before n.

const digits = (number: number): string => String(number).padStart(8, '0');

export const segmentName = (number: number): string => `segment-${digits(number)}`;
export const snapshotName = (number: number): string => `snapshot-${digits(number)}`;
/** A snapshot that is still being written. */
export const draftName = (number: number): string => `${snapshotName(number)}.part`;

export interface DataFiles {
  /** In ascending order. */
  readonly segments: readonly number[];
  readonly snapshots: readonly number[];
  readonly drafts: readonly number[];
}

export function dataFiles(names: readonly string[]): DataFiles {
  const numbers = (pattern: RegExp): number[] =>
    names
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  return {
    segments: numbers(/^segment-(\d{8,})$/),
    snapshots: numbers(/^snapshot-(\d{8,})$/),
    drafts: numbers(/^snapshot-(\d{8,})\.part$/),
  };
}

/** Files that are obsolete once snapshot `base` exists. */
export function obsoleteFiles(files: DataFiles, base: number): readonly string[] {
  return [
    ...files.snapshots.filter((number) => number < base).map(snapshotName),
    ...files.segments.filter((number) => number < base).map(segmentName),
    ...files.drafts.map(draftName),
  ];
}
