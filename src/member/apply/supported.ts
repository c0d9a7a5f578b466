// What a Work may ask for that this applier cannot do yet. It is refused in plain words, never ignored; later the rows go one by one.
import type { WorkSpec } from '../../api/work.ts';

interface Row {
  readonly field: string;
  readonly value: string;
  isAsked(spec: WorkSpec): boolean;
}

const ROWS: readonly Row[] = [
  {
    field: 'spec.reportBackStrategy.type',
    value: 'Mirror',
    isAsked: ({ reportBackStrategy }) => reportBackStrategy?.type === 'Mirror',
  },
];

/** undefined = all of it can be done. */
export function notSupported(spec: WorkSpec): string | undefined {
  const asked = ROWS.filter((row) => row.isAsked(spec)).map(({ field, value }) => `${field} ${value}`);
  return asked.length === 0 ? undefined : `not supported yet: ${asked.join(', ')}; nothing is written on the member`;
}
