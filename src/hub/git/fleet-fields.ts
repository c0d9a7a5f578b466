// Fields that several parts of fleet.yaml share: names and selectors, and the errors about them with their place. Pure.
import type { GitTarget } from '../../api/git-repo.ts';
import { isObject } from '../../base/json.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Place = readonly (string | number)[];
export type Say = (place: Place, message: string) => void;

export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export const isTextMap = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');

export const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const TEXTS: ReadonlySet<string> = new Set(['clusterName', 'clusterGroup']);
const SELECTORS: ReadonlySet<string> = new Set(['clusterSelector', 'clusterGroupSelector']);

export function criteriaIn(fields: Fields, place: Place, refuse: Say, warn: Say): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === null || value === undefined) continue;
    const here = [...place, key];
    if (TEXTS.has(key)) {
      if (typeof value === 'string') kept[key] = value;
      else refuse(here, 'a name is expected');
    } else if (SELECTORS.has(key)) {
      const problem = selectorProblem(value);
      if (problem === undefined) kept[key] = value;
      else refuse(here, problem);
    } else warn(here, 'it has no effect');
  }
  return kept;
}

const NEEDS_VALUES: ReadonlySet<unknown> = new Set(['In', 'NotIn']);
const TAKES_NONE: ReadonlySet<unknown> = new Set(['Exists', 'DoesNotExist']);

export function selectorProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'a label selector is expected';
  const { matchLabels, matchExpressions, ...others } = value;
  const [other] = Object.keys(others);
  if (other !== undefined) return `a label selector has no field "${other}"`;
  if (matchLabels !== undefined && matchLabels !== null && !isTextMap(matchLabels))
    return 'matchLabels: a map of texts is expected';
  if (matchExpressions === undefined || matchExpressions === null) return undefined;
  const isExpression = (each: unknown): boolean => {
    if (!isObject(each) || typeof each['key'] !== 'string') return false;
    const { operator, values } = each;
    const count = Array.isArray(values) && values.every((text) => typeof text === 'string') ? values.length : 0;
    return NEEDS_VALUES.has(operator) ? count > 0 : TAKES_NONE.has(operator) && count === 0;
  };
  return Array.isArray(matchExpressions) && matchExpressions.every(isExpression)
    ? undefined
    : 'matchExpressions: a list of key, operator (In, NotIn, Exists, DoesNotExist) and values is expected';
}

export function targetsIn(value: unknown, place: Place, refuse: Say, warn: Say): readonly GitTarget[] | undefined {
  if (!Array.isArray(value) || !value.every(isObject)) {
    refuse(place, 'a list of maps is expected');
    return undefined;
  }
  return (value as readonly Fields[]).map(({ name, ...criteria }, at) => ({
    ...(typeof name === 'string' ? { name } : {}),
    ...criteriaIn(criteria, [...place, at], refuse, warn),
  }));
}
