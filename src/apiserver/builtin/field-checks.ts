// Checks that many built-in kinds share, with the messages of Kubernetes. A check takes the path of a field and its
// value and returns the errors; an empty list means valid.
import type { FieldCause } from '../../api/kind.ts';
import type { Labels } from '../../api/object.ts';
import { forbiddenField, invalidValue, required, unsupportedValue } from '../../api/status.ts';
import { byText } from '../../base/compare.ts';
import type { IntOrPercent } from '../../base/int-or-percent.ts';
import {
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '../../base/names.ts';
import type { SelectorDraft } from './drafts.ts';

export type Causes = readonly FieldCause[];

const NONE: Causes = Object.freeze([]);

/** One cause per error of the same value. */
export const complaints = (field: string, value: unknown, texts: readonly string[]): Causes =>
  texts.length === 0 ? NONE : texts.map((text) => invalidValue(field, value, text));

export const dnsLabel = (field: string, value: string): Causes => complaints(field, value, dnsLabelErrors(value));
export const dns1035Label = (field: string, value: string): Causes =>
  complaints(field, value, dns1035LabelErrors(value));
export const dnsSubdomain = (field: string, value: string): Causes =>
  complaints(field, value, dnsSubdomainErrors(value));

export const oneOf = (field: string, value: string | undefined, supported: readonly string[]): Causes =>
  value !== undefined && supported.includes(value) ? NONE : [unsupportedValue(field, value ?? '', supported)];

/** Set, and one of the supported values. */
export const requiredOneOf = (field: string, value: string | undefined, supported: readonly string[]): Causes =>
  value === undefined || value === '' ? [required(field)] : oneOf(field, value, supported);

export const nonNegative = (field: string, value: number | undefined): Causes =>
  value !== undefined && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : NONE;

export const portNumber = (field: string, value: number): Causes =>
  Number.isInteger(value) && value >= 1 && value <= 65535
    ? NONE
    : [invalidValue(field, value, 'must be between 1 and 65535, inclusive')];

/** Errors in the name of a port: at most 15 of a-z, 0-9 and single hyphens, at least one letter. */
export function portNameErrors(name: string): readonly string[] {
  const errors: string[] = [];
  if (name.length > 15) errors.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)');
  if (name.includes('--')) errors.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

export const portNumberOrName = (field: string, value: IntOrPercent | undefined): Causes =>
  typeof value === 'string' ? complaints(field, value, portNameErrors(value)) : portNumber(field, value ?? 0);

const PERCENT = /^[0-9]+%$/;
const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A count or a percentage. */
export const countOrPercent = (field: string, value: IntOrPercent): Causes =>
  typeof value === 'string'
    ? PERCENT.test(value)
      ? NONE
      : [invalidValue(field, value, PERCENT_TEXT)]
    : nonNegative(field, value);

export const percentOf = (value: IntOrPercent): number | undefined =>
  typeof value === 'string' && PERCENT.test(value) ? Number(value.slice(0, -1)) : undefined;

export const notMoreThanAll = (field: string, value: IntOrPercent): Causes =>
  (percentOf(value) ?? 0) > 100 ? [invalidValue(field, value, 'must not be greater than 100%')] : NONE;

export function labels(field: string, map: Labels | undefined): Causes {
  if (!map) return NONE;
  const causes: FieldCause[] = [];
  for (const key in map) {
    causes.push(...complaints(field, key, qualifiedNameErrors(key)));
    const value = map[key] ?? '';
    causes.push(...complaints(field, value, labelValueErrors(value)));
  }
  return causes;
}

export function annotations(field: string, map: Labels | undefined): Causes {
  if (!map) return NONE;
  return Object.keys(map).flatMap((key) => complaints(field, key, qualifiedNameErrors(key.toLowerCase())));
}

/** A LabelSelector of a spec. */
export function selectorCauses(field: string, selector: SelectorDraft | undefined): Causes {
  if (!selector) return NONE;
  const causes: FieldCause[] = [...labels(`${field}.matchLabels`, selector.matchLabels)];
  selector.matchExpressions?.forEach((expression, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const count = expression.values?.length ?? 0;
    if (expression.operator === 'In' || expression.operator === 'NotIn') {
      if (count === 0) {
        causes.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (expression.operator === 'Exists' || expression.operator === 'DoesNotExist') {
      if (count > 0) {
        causes.push(
          forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else {
      causes.push(invalidValue(`${at}.operator`, expression.operator ?? '', 'not a valid selector operator'));
    }
    causes.push(...complaints(`${at}.key`, expression.key ?? '', qualifiedNameErrors(expression.key ?? '')));
    expression.values?.forEach((value, place) => {
      causes.push(...complaints(`${at}.values[${place}]`, value, labelValueErrors(value)));
    });
  });
  return causes;
}

/** A map of labels as a server prints it: sorted. */
export const shownLabels = (map: Labels | undefined): Labels | null =>
  map === undefined ? null : Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => byText(a, b)));

/** A selector as a server prints it. */
export const shownSelector = ({ matchLabels, matchExpressions }: SelectorDraft): object => ({
  ...(matchLabels && Object.keys(matchLabels).length > 0 ? { matchLabels: shownLabels(matchLabels) } : {}),
  ...(matchExpressions && matchExpressions.length > 0
    ? {
        matchExpressions: matchExpressions.map(({ key = '', operator = '', values = [] }) => ({
          key,
          operator,
          ...(values.length > 0 ? { values } : {}),
        })),
      }
    : {}),
});

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

export const isIpv4 = (text: string): boolean => IPV4.test(text);

/** Counts the groups of an IPv6 address; an embedded IPv4 tail counts as two. */
export function isIpv6(text: string): boolean {
  if (text.length > 45 || !/^[0-9a-fA-F:.]+$/.test(text)) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    if (half === '') continue;
    const parts = half.split(':');
    for (const [place, part] of parts.entries()) {
      const isTail = index === halves.length - 1 && place === parts.length - 1;
      if (isTail && part.includes('.')) {
        if (!isIpv4(part)) return false;
        groups += 2;
      } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups += 1;
      else return false;
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}

export const ipAddress = (field: string, value: string): Causes =>
  isIpv4(value) || isIpv6(value)
    ? NONE
    : [invalidValue(field, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];

export function cidr(field: string, value: string): Causes {
  const slash = value.lastIndexOf('/');
  const address = value.slice(0, Math.max(slash, 0));
  const bits = value.slice(slash + 1);
  const most = isIpv4(address) ? 32 : isIpv6(address) ? 128 : -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most
    ? NONE
    : [invalidValue(field, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}
