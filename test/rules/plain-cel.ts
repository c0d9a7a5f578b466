// A second opinion on the rules: they are evaluated as they stand by the CEL library alone, without our API server's schema engine.
import { Environment } from '@marcbachmann/cel-js';
import type { CelRule, Schema } from '../../src/api/schema.ts';

const environment = new Environment({ unlistedVariablesAreDyn: true });
const compiled = new Map<string, ReturnType<Environment['parse']>>();

function holds(rule: CelRule, self: unknown, oldSelf: unknown): boolean {
  let run = compiled.get(rule.rule);
  if (run === undefined) {
    run = environment.parse(rule.rule);
    compiled.set(rule.rule, run);
  }
  return run({ self, oldSelf }) === true;
}

// CEL tells int from double; JSON does not.
function celValue(value: unknown, schema: Schema): unknown {
  if (typeof value === 'number') return schema.type === 'number' ? value : BigInt(value);
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema.items ?? {}));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, celValue(item, childOf(schema, key) ?? {})]),
  );
}

const childOf = (schema: Schema, key: string): Schema | undefined =>
  schema.properties?.[key] ??
  (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);

/** The messages of all rules that a defaulted object breaks. `old` is the object it replaces. */
export function brokenRules(schema: Schema, value: unknown, old: unknown): readonly string[] {
  const broken = (schema['x-kubernetes-validations'] ?? [])
    .filter((rule) => old !== undefined || !rule.rule.includes('oldSelf'))
    .filter((rule) => !holds(rule, celValue(value, schema), celValue(old, schema)))
    .map((rule) => rule.message ?? rule.rule);
  if (Array.isArray(value)) {
    // No list of ours can be correlated with its old self, so nothing inside has an old value.
    return [...broken, ...value.flatMap((item) => brokenRules(schema.items ?? {}, item, undefined))];
  }
  if (typeof value !== 'object' || value === null) return broken;
  const oldFields = (old ?? {}) as Readonly<Record<string, unknown>>;
  return [
    ...broken,
    ...Object.entries(value).flatMap(([key, item]) => {
      const child = childOf(schema, key);
      return child === undefined ? [] : brokenRules(child, item, oldFields[key]);
    }),
  ];
}
