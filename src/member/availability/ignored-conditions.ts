// Leaves conditions out of the status of an object before it is judged: ignoreConditions of the apply strategy. Pure.
import type { IgnoredCondition } from '../../api/ignored-condition.ts';
import type { KubeObject } from '../../api/object.ts';
import { type Fields, fieldsOf } from './verdict.ts';

export interface Considered {
  readonly live: KubeObject;
  /** The types of the conditions that were left out: a rule does not require them. */
  readonly ignored: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

export function withoutIgnored(live: KubeObject, patterns: readonly IgnoredCondition[] = []): Considered {
  const status = fieldsOf(live.status);
  const { conditions } = status;
  if (patterns.length === 0 || !Array.isArray(conditions)) return { live, ignored: NONE };
  const isIgnored = (each: unknown) => patterns.some((pattern) => matches(pattern, fieldsOf(each)));
  const dropped = conditions.filter(isIgnored);
  if (dropped.length === 0) return { live, ignored: NONE };
  return {
    live: { ...live, status: { ...status, conditions: conditions.filter((each) => !isIgnored(each)) } },
    ignored: new Set(dropped.map((each) => String(fieldsOf(each)['type']))),
  };
}

const matches = (pattern: IgnoredCondition, condition: Fields): boolean =>
  Object.entries(pattern).every(
    ([field, value]) => Object.hasOwn(condition, field) && String(condition[field]) === value,
  );
