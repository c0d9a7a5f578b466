// Validation of the five fields of a cron schedule, with the messages of a real server.

interface Bounds {
  readonly least: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Bounds[] = [
  { least: 0, max: 59 },
  { least: 0, max: 23 },
  { least: 1, max: 31 },
  { least: 1, max: 12, names: MONTHS },
  { least: 0, max: 6, names: DAYS },
];
const DESCRIPTORS: ReadonlySet<string> = new Set([
  ...['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'],
]);

/** Why a schedule is invalid, or undefined. */
export function cronScheduleError(schedule: string, hasTimeZone: boolean): string | undefined {
  if (schedule.includes('TZ')) {
    return hasTimeZone
      ? 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
      : 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  }
  if (schedule.startsWith('@')) {
    if (DESCRIPTORS.has(schedule) || /^@every (?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(schedule))
      return undefined;
    return `unrecognized descriptor: ${schedule}`;
  }
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  for (const [index, field] of fields.entries()) {
    for (const part of field.split(',')) {
      const error = partError(part, FIELDS[index] as Bounds);
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

function partError(part: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...moreSteps] = part.split('/');
  const [low = '', high, ...moreBounds] = range.split('-');
  if (moreSteps.length > 0) return `too many slashes: ${part}`;
  if (moreBounds.length > 0) return `too many hyphens: ${part}`;
  if (step !== undefined && !/^\d+$/.test(step))
    return `failed to parse int from ${step}: strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`;
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${part}`;
  if (range === '*' || range === '?') return undefined;
  const first = numberOf(low, bounds);
  const last = high === undefined ? first : numberOf(high, bounds);
  for (const [text, value] of [
    [low, first],
    [high ?? low, last],
  ] as const) {
    if (value === undefined)
      return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const [start, end] = [first as number, last as number];
  if (start < bounds.least) return `beginning of range (${start}) below minimum (${bounds.least}): ${part}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  return undefined;
}

function numberOf(text: string, { names, least }: Bounds): number | undefined {
  const name = names?.indexOf(text.toLowerCase()) ?? -1;
  if (name >= 0) return name + least;
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}
