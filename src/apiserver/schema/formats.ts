// The string formats of a CRD's schema. Other formats are ignored, as on a real server.
import { isPlainTime } from './plain-time.ts';
import { parseDuration } from './value/duration.ts';
import { isMapped, parseCidr, parseIp } from './value/ip.ts';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(.\d+)?(z|[+-]\d{2}:\d{2})$/;

function isDate(text: string): boolean {
  const found = DATE.exec(text);
  if (found === null) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const made = new Date(0);
  made.setUTCFullYear(year, month - 1, day);
  return made.getUTCMonth() === month - 1 && made.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  if (isPlainTime(text)) return true;
  const [date = '', time = ''] = text.toLowerCase().split('t');
  return isDate(date) && TIME.test(time);
}

const WORDY_DURATION =
  /(\d+)\s*(ns|nano[a-z]*|us|µs|micro[a-z]*|ms|milli[a-z]*|s|sec[a-z]*|m|min[a-z]*|h|hr|hour[a-z]*|d|day[a-z]*|w|wk|week[a-z]*)(?![a-zµ])/i;

const isDuration = (text: string): boolean => parseDuration(text) !== undefined || WORDY_DURATION.test(text);

const HOST_LABEL = /^[a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]*[a-zA-Z0-9\p{S}\p{L}])?$/u;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (!labels.every((label) => HOST_LABEL.test(label) && Buffer.byteLength(label) <= 63)) return false;
  return labels.length === 1 || /^[a-zA-Z\p{L}]{2,63}$/u.test(labels.at(-1) ?? '');
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && text !== '' && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const isRequestUri = (text: string): boolean =>
  !/[\s\p{Cc}]/u.test(text) &&
  (/^\/[^%]*(%[0-9a-fA-F]{2}[^%]*)*$/.test(text) || /^[a-zA-Z][a-zA-Z0-9+.-]*:./.test(text));

const isEmail = (text: string): boolean =>
  text.length <= 1000 &&
  (/^[^\s<>@"(),:;[\]\\]+@[^\s<>@"(),:;[\]\\]+$/.test(text) || /^[^<>@]* ?<[^\s<>@]+@[^\s<>@]+>$/.test(text));

const digitsOf = (text: string): string => text.replace(/[\s-]+/g, '');

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, at) => sum + (at + 1) * (digit === 'X' ? 10 : Number(digit)), 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text);
  return (
    /^\d{13}$/.test(digits) &&
    [...digits].reduce((sum, digit, at) => sum + (at % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0
  );
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!/^\d{12,19}$/.test(digits)) return false;
  let sum = 0;
  for (const [at, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

const hex = (count: number): string => `[0-9a-f]{${count}}`;
const uuid = (third: string, fourth: string): RegExp =>
  new RegExp(`^${hex(8)}-?${hex(4)}-?${third}-?${fourth}-?${hex(12)}$`, 'i');
const test =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);

// Keys have no dashes: `date-time` and `datetime` are the same format.
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['byte', isBase64],
  ['password', () => true],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => parseIp(text)?.family === 4 || (text.includes('.') && isMapped(parseIp(text) ?? NO_IP))],
  ['ipv6', (text) => parseIp(text)?.family === 6],
  ['cidr', (text) => parseCidr(text) !== undefined],
  ['mac', test(/^([0-9a-f]{2}([:-][0-9a-f]{2}){5}(([:-][0-9a-f]{2}){2})?|[0-9a-f]{4}(\.[0-9a-f]{4}){2,3})$/i)],
  ['uuid', test(uuid(hex(4), hex(4)))],
  ['uuid3', test(uuid(`3${hex(3)}`, hex(4)))],
  ['uuid4', test(uuid(`4${hex(3)}`, `[89ab]${hex(3)}`))],
  ['uuid5', test(uuid(`5${hex(3)}`, `[89ab]${hex(3)}`))],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', test(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['hexcolor', test(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', test(/^rgb\(\s*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*(,\s*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*){2}\)$/)],
  ['bsonobjectid', test(/^[0-9a-f]{24}$/i)],
  ['k8sshortname', (text) => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)],
  [
    'k8slongname',
    (text) => text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
  ],
]);

const NO_IP = { family: 4 as const, bytes: new Uint8Array(4) };

/** The check of a format, or undefined if the server does not know it. */
export const formatCheck = (format: string | undefined): ((text: string) => boolean) | undefined =>
  format === undefined ? undefined : FORMATS.get(format.replaceAll('-', ''));
