// The one place that says what two API servers cannot share: identities, revisions, moments, generated suffixes, allotted addresses. All
// else is compared as it is.
//
// `PATHS` are places in JSON answers; `TEXTS` are what the same things look like inside of texts: messages, and all that kubectl prints.
import { byText } from '../../src/base/compare.ts';
import { canonicalJson, isObject } from '../../src/base/json.ts';

interface PathRule {
  /** The end of a path; `*` stands for any one step. */
  readonly path: string;
  /** What stands there instead; absent = nothing does. */
  readonly as?: string;
  /** Only if the value looks so. */
  readonly like?: RegExp;
}

export const PATHS: readonly PathRule[] = [
  { path: 'metadata.resourceVersion', as: 'RV' },
  { path: 'metadata.creationTimestamp', as: 'TIME' },
  { path: 'metadata.deletionTimestamp', as: 'TIME' },
  { path: 'metadata.continue', as: 'CONTINUE' },
  { path: 'uid', as: 'UID', like: /^[0-9a-f]{8}-/ },
  { path: 'lastTransitionTime', as: 'TIME' },
  { path: 'lastUpdateTime', as: 'TIME' },
  { path: 'lastPhaseTransitionTime', as: 'TIME' },
  { path: 'lastProbeTime', as: 'TIME' },
  { path: 'status.startTime', as: 'TIME' },
  { path: 'status.expirationTimestamp', as: 'TIME' },
  { path: 'status.token', as: 'TOKEN' },
  // The issuer of tokens is named by whoever starts a server.
  { path: 'spec.audiences.*', as: 'ISSUER', like: /^https:\/\/kubernetes\.default/ },
  // Cells of a table hold ages.
  { path: 'rows.*.cells.*', as: 'AGE', like: /^\d+[smhdy](?:\d+[smhd])?$/ },
  // A server listens where there was room.
  { path: 'serverAddress', as: 'SERVER', like: /^127\.0\.0\.1:\d+$/ },
  // Allotted out of ranges that differ.
  { path: 'spec.clusterIP', as: 'CLUSTER-IP', like: /^10\./ },
  { path: 'spec.clusterIPs.*', as: 'CLUSTER-IP', like: /^10\./ },
  { path: 'nodePort', as: 'NODE-PORT', like: /^3[0-2]\d{3}$/ },
  { path: 'healthCheckNodePort', as: 'NODE-PORT', like: /^3[0-2]\d{3}$/ },
];

const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, 'TIME'],
  // kubectl's own log lines begin with a moment and a process.
  [/\b[WEI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /g, 'LOG '],
  // A watch that kubectl itself ends within a second is noise of its own clock.
  [/LOG reflector\.go:\d+\] [^\n]*very short watch[^\n]*\n/g, ''],
  // So is one that its own --timeout cuts off before it has begun.
  [/LOG reflector\.go:\d+\] "Failed to watch"[^\n]*context (?:deadline exceeded|canceled)[^\n]*\n/g, ''],
  // Refusals of a patch show the whole object, with its managers.
  [/Invalid value: "\{\\"apiVersion\\"(?:[^"\\]|\\.)*"/g, 'Invalid value: OBJECT'],
  [/(resourceVersion['"]?: ?['"]?)\d+/gi, '$1RV'],
  [/(Resource Version: +)\d+/g, '$1RV'],
  [/((?:ResourceVersion in record \(|Too large resource version: \d+, current: ))\d+/g, '$1RV'],
  // Revisions and moments in it are as long as they are.
  [/(message larger than max \()\d+/g, '$1SIZE'],
  [/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g, 'CERTIFICATE'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'https://SERVER'],
  [/\b10\.(?:0|9[6-9]|10\d|11[01])\.\d+\.\d+\b/g, 'CLUSTER-IP'],
  [/\b(gen-|kube-api-access-)[a-z0-9]{5}\b/g, '$1xxxxx'],
  [/\b3[0-2]\d{3}\b/g, 'NODE-PORT'],
];

/** Only in what kubectl prints. */
const LINES: readonly (readonly [RegExp, string])[] = [
  // Ages stand alone in a cell.
  [/(?<=^|[ \t(])\d+[smhdy](?:\d+[smhd])?(?=[ \t)]|$)/gm, 'AGE'],
  [/\/\S*\/(?:flotilla-step|flotilla-cache|flotilla-wire)-[^\s/:"]+/g, 'FILES'],
  // Columns are as wide as their widest cell; what is left of a line counts, not its spaces.
  [/(?<=\S)(?: {2,}|\t+)/g, '  '],
  [/[ \t]+$/gm, ''],
];

const replaced = (text: string, rules: readonly (readonly [RegExp, string])[]): string =>
  rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);

/** What kubectl printed. */
export const normalisePrinted = (text: string): string => replaced(replaced(text, TEXTS), LINES);

/** A text inside of an answer. */
export const normaliseText = (text: string): string => replaced(text, TEXTS);

/** `managed-fields`: ours has no entries of its own controllers. Which of two entries stands first is chance if they are of one second. */
const OF_CONTROLLERS = /^kube-(?:apiserver|controller-manager)/;

function owners(entries: unknown, path: readonly string[]): unknown {
  if (!Array.isArray(entries)) return normaliseJson(entries, path);
  const left = entries.filter((entry) => !(isObject(entry) && OF_CONTROLLERS.test(String(entry['manager']))));
  if (left.length === 0 && entries.length > 0) return undefined;
  const all = left.map((entry) => canonicalJson(normaliseJson(entry, path)));
  return all.toSorted(byText).map((entry) => JSON.parse(entry) as unknown);
}

const rules = PATHS.map((rule) => ({ ...rule, steps: rule.path.split('.') }));

const ends = (path: readonly string[], steps: readonly string[]): boolean =>
  path.length >= steps.length &&
  steps.every((step, index) => step === '*' || path[path.length - steps.length + index] === step);

/** A JSON answer. */
export function normaliseJson(value: unknown, path: readonly string[] = []): unknown {
  const rule = rules.find(
    ({ steps, like }) => ends(path, steps) && (like === undefined || (!isObject(value) && like.test(String(value)))),
  );
  if (rule !== undefined && value !== null) return rule.as;
  if (typeof value === 'string') return normaliseText(value);
  if (Array.isArray(value)) return value.map((item, index) => normaliseJson(item, [...path, String(index)]));
  if (!isObject(value)) return value;
  const result: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const next = key === 'managedFields' ? owners(item, [...path, key]) : normaliseJson(item, [...path, key]);
    if (next !== undefined) result.push([normaliseText(key), next]);
  }
  return Object.fromEntries(result);
}
