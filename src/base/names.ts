// The names, label keys and label values that Kubernetes accepts, with its error messages. Each check returns all
// errors; empty = valid. Safe for untrusted input: every pattern runs in linear time.
import type { Random } from './random.ts';

type Complaints = readonly string[];

const NONE: Complaints = Object.freeze([]);

interface Pattern {
  readonly regex: RegExp;
  readonly refusal: string;
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

function pattern(source: string, rule: string, examples: readonly string[]): Pattern {
  // Two spaces before `or`, as on a real server.
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return {
    regex: new RegExp(`^(?:${source})$`),
    refusal: `${rule} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${source}')`,
  };
}

const label = pattern(
  LABEL,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
);
const subdomain = pattern(
  SUBDOMAIN,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
);
const dns1035 = pattern(
  DNS_1035,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
);
const qualified = pattern(
  QUALIFIED,
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyName', 'my.name', '123-abc'],
);
const labelValue = pattern(
  `(${QUALIFIED})?`,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
);
const configKey = pattern(
  '[-._a-zA-Z0-9]+',
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  ['key.name', 'KEY_NAME', 'key-name'],
);

/** `must be no more than 63 characters`. */
export const tooLongText = (max: number): string => `must be no more than ${max} characters`;

// Kubernetes counts bytes.
const exceeds = (value: string, max: number): boolean => value.length * 3 > max && Buffer.byteLength(value) > max;

function check(value: string, form: Pattern, max: number, prefix = ''): Complaints {
  const fits = !exceeds(value, max);
  const matches = form.regex.test(value);
  if (fits && matches) return NONE;
  return [...(fits ? [] : [`${prefix}${tooLongText(max)}`]), ...(matches ? [] : [`${prefix}${form.refusal}`])];
}

/** The name of a Namespace, a port and similar: at most 63 characters, no dots. */
export function dnsLabelErrors(value: string): Complaints {
  const complaints = check(value, label, 63);
  // A valid subdomain that is not a label has dots; this message helps more than the pattern.
  return complaints.length > 0 && value.includes('.') && subdomain.regex.test(value)
    ? complaints.map((each) => (each === label.refusal ? 'must not contain dots' : each))
    : complaints;
}

/** The name of most objects: at most 253 characters. */
export const dnsSubdomainErrors = (value: string): Complaints => check(value, subdomain, 253);

/** The older, stricter format: starts with a letter. */
export const dns1035LabelErrors = (value: string): Complaints => check(value, dns1035, 63);

export const labelValueErrors = (value: string): Complaints => check(value, labelValue, 63);

/** Keys of labels and annotations, names of finalizers: `example.com/MyName`. */
export function qualifiedNameErrors(value: string): Complaints {
  const slash = value.indexOf('/');
  if (slash < 0) return namePartErrors(value);
  if (value.indexOf('/', slash + 1) >= 0) {
    return [
      `a qualified name ${qualified.refusal} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const prefix = value.slice(0, slash);
  const complaints = [
    ...(prefix === '' ? ['prefix part must be non-empty'] : check(prefix, subdomain, 253, 'prefix part ')),
    ...namePartErrors(value.slice(slash + 1)),
  ];
  return complaints.length === 0 ? NONE : complaints;
}

const namePartErrors = (name: string): Complaints =>
  name === ''
    ? ['name part must be non-empty', `name part ${qualified.refusal}`]
    : check(name, qualified, 63, 'name part ');

/** Keys of ConfigMaps and Secrets. */
export function configMapKeyErrors(value: string): Complaints {
  const complaints = check(value, configKey, 253);
  if (!value.startsWith('.')) return complaints;
  if (value === '.' || value === '..') return [...complaints, `must not be '${value}'`];
  return value.startsWith('..') ? [...complaints, "must not start with '..'"] : complaints;
}

/** Any segment of a URL path. RBAC objects use it. With `isPrefix`, a suffix will follow. */
export function pathSegmentErrors(value: string, isPrefix = false): Complaints {
  if (!isPrefix && (value === '.' || value === '..')) return [`may not be '${value}'`];
  const complaints = ['/', '%'].filter((each) => value.includes(each)).map((each) => `may not contain '${each}'`);
  return complaints.length === 0 ? NONE : complaints;
}

/**
 * Converts a check to the form of a kind's behavior: one string or undefined, and a generateName may end with a dash.
 */
export const nameErrorBy =
  (errorsOf: (value: string, isPrefix: boolean) => Complaints) =>
  (name: string, isPrefix: boolean): string | undefined => {
    const complaints = errorsOf(isPrefix ? prefixForCheck(name) : name, isPrefix);
    return complaints.length === 0 ? undefined : complaints.join('; ');
  };

/** The part of a generateName that Kubernetes checks: a trailing dash is valid, because letters follow. */
const prefixForCheck = (generateName: string): string =>
  generateName.length > 1 && generateName.endsWith('-') ? `${generateName.slice(0, -2)}a` : generateName;

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const LONGEST_GENERATED = 63;

/** Five characters without vowels and similar characters. */
export function generatedSuffix(random: Random): string {
  let suffix = '';
  for (let i = 0; i < SUFFIX_LENGTH; i++) {
    suffix += SUFFIX_ALPHABET[Math.floor(random.next() * SUFFIX_ALPHABET.length)];
  }
  return suffix;
}

/** A name from a generateName: the base is truncated so that the length is valid for a label. */
export const generatedName = (base: string, random: Random): string =>
  base.slice(0, LONGEST_GENERATED - SUFFIX_LENGTH) + generatedSuffix(random);
