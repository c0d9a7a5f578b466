// Go types with their own JSON decoder, and their error messages.
import { isPlainTime } from './plain-time.ts';
import { parseDuration } from './value/duration.ts';
import { quantityPattern } from './value/quantity.ts';

/** undefined = valid. `wanted` = not even the right JSON type; `ends` = an error that stops decoding immediately. */
export type Reading = undefined | { readonly wanted: string; readonly isNumber?: boolean } | { readonly ends: string };

/** By the last segment of the type's name. */
export const selfReading: ReadonlyMap<string, (value: unknown) => Reading> = new Map([
  ['Quantity', readQuantity],
  ['IntOrString', readIntOrString],
  ['Time', (value: unknown) => readTime(value, false)],
  ['MicroTime', (value: unknown) => readTime(value, true)],
  ['Duration', readDuration],
]);

function readQuantity(value: unknown): Reading {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && quantityPattern.test(text)) return undefined;
  return { ends: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" };
}

function readIntOrString(value: unknown): Reading {
  if (typeof value === 'string') return undefined;
  if (typeof value !== 'number') return { wanted: 'int32' };
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? undefined : { wanted: 'int32', isNumber: true };
}

function readDuration(value: unknown): Reading {
  if (typeof value !== 'string') return { wanted: 'string' };
  return parseDuration(value) === undefined ? { ends: `time: invalid duration ${JSON.stringify(value)}` } : undefined;
}

export function readBytes(value: string): Reading {
  const text = value.replace(/[\r\n]/g, '');
  const bad = /[^A-Za-z0-9+/]/.exec(text.replace(/={0,2}$/, ''));
  if (bad !== null) return { ends: `illegal base64 data at input byte ${bad.index}` };
  const over = text.length % 4;
  return over === 0 ? undefined : { ends: `illegal base64 data at input byte ${text.length - over}` };
}

// The parts of an RFC 3339 time, in order, each with its name in Go's layout.
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [/^\d{2}/, '01'],
  [/^-/, '-'],
  [/^\d{2}/, '02'],
  [/^T/, 'T'],
  [/^\d{1,2}/, '15'],
  [/^:/, ':'],
  [/^\d{2}/, '04'],
  [/^:/, ':'],
  [/^\d{2}(?:[.,]\d+)?/, '05'],
  [/^(?:Z|[+-]\d{2}:\d{2})/, 'Z07:00'],
];

export function readTime(value: unknown, micro: boolean): Reading {
  if (typeof value !== 'string') return { wanted: 'string' };
  if (isPlainTime(value)) return undefined;
  const quoted = JSON.stringify(value);
  const numbers: number[] = [];
  let rest = value;
  for (const [pattern, part] of PARTS) {
    const piece = pattern.exec(rest)?.[0];
    if (piece === undefined) {
      const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
      return { ends: `parsing time ${quoted} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"` };
    }
    if (/^\d/.test(piece)) numbers.push(Math.trunc(Number(piece.replace(',', '.'))));
    rest = rest.slice(piece.length);
  }
  if (rest !== '') return { ends: `parsing time ${quoted}: extra text: ${JSON.stringify(rest)}` };
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  const limits = [
    ['month', month, 1, 12],
    ['day', day, 1, lastDay],
    ['hour', hour, 0, 23],
    ['minute', minute, 0, 59],
    ['second', second, 0, 59],
  ] as const;
  const beyond = limits.find(([, actual, least, max]) => actual < least || actual > max);
  return beyond === undefined ? undefined : { ends: `parsing time ${quoted}: ${beyond[0]} out of range` };
}
