// Validates a value against its schema, with the messages of a real server and its special cases: a value of the wrong
// type is still checked by the other keywords, a bound on integers loses its fraction, and of the alternatives of an
// anyOf the errors of the closest one are reported.
//
// Unchanged parts of an update are accepted: errors inside a part that equals its old value are dropped.
import type { FieldCause } from '../../api/kind.ts';
import { invalidValue, required, tooLong, tooMany, typeInvalid, unsupportedValue } from '../../api/status.ts';
import { canonicalJson, deepEqual } from '../../base/json.ts';
import { oldField, oldItems } from './correlate.ts';
import type { SchemaNode } from './node.ts';
import { dotted, field, index, type Path } from './path.ts';

interface Findings {
  readonly causes: FieldCause[];
  /** For an alternative: every check runs, because passed checks are counted. */
  readonly isAttempt: boolean;
  /** The number of passed checks, to find the closest alternative of an anyOf. */
  matches: number;
}

/** `old` = the correlating value before an update; undefined = there is none. */
export function validateSchema(value: unknown, node: SchemaNode, old: unknown): FieldCause[] {
  const findings: Findings = { causes: [], isAttempt: false, matches: 0 };
  check(value, node, undefined, old, findings);
  return findings.causes;
}

function check(value: unknown, node: SchemaNode, path: Path | undefined, old: unknown, findings: Findings): void {
  const { causes, isAttempt } = findings;
  if (!isAttempt && old !== undefined && deepEqual(old, value)) return;
  const before = causes.length;
  inspect(value, node, path, old, findings);
  if (isAttempt && causes.length > before && old !== undefined && deepEqual(old, value)) causes.length = before;
}

function inspect(value: unknown, node: SchemaNode, path: Path | undefined, old: unknown, findings: Findings): void {
  checkType(value, node, path, findings);
  if (value !== null && value !== undefined) {
    if (node.hasLogic) checkLogic(value, node, path, old, findings);
    if (typeof value === 'string') checkText(value, node, path, findings);
    else if (typeof value === 'number') checkNumber(value, node, path, findings);
    else if (Array.isArray(value)) checkList(value, node, path, old, findings);
  }
  if (node.schema.enum !== undefined) checkEnum(value, node.schema.enum, path, findings);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    checkObject(value as Readonly<Record<string, unknown>>, node, path, old, findings);
  }
  findings.matches++;
}

/** The type of a value in error messages. */
function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return isWhole(value) ? 'integer' : 'number';
  return typeof value;
}

// A real server does not accept an integer beyond 64 bits either.
const isWhole = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;

function checkType(value: unknown, node: SchemaNode, path: Path | undefined, findings: Findings): void {
  const { type, format } = node.schema;
  if (node.typeText === '') return;
  const actual = typeOf(value);
  findings.matches += 2;
  if (actual === 'null' && node.isNullable) return;
  if (node.isIntOrString ? actual === 'integer' || actual === 'string' : actual === type) return;
  if (type === 'number' && actual === 'integer') return;
  // With a known format, strings and lists pass here; the format itself is checked on strings.
  if (format !== undefined && node.checkFormat !== undefined && type !== 'integer' && type !== 'number') {
    if (actual === 'string' || actual === 'array') return;
    findings.matches -= 1;
    findings.causes.push(typeCause(path, format, FORMAT_OF[actual] ?? ''));
    return;
  }
  findings.matches -= 1;
  findings.causes.push(typeCause(path, node.typeText, actual));
}

/** For a schema with a format, error messages name the format of the actual type. */
const FORMAT_OF: Readonly<Record<string, string>> = { integer: 'int64', number: 'double' };

const typeCause = (path: Path | undefined, wanted: string, actual: string): FieldCause =>
  typeInvalid(fieldOf(path), actual, `${dotted(path)} in body must be of type ${wanted}: ${JSON.stringify(actual)}`);

const fieldOf = (path: Path | undefined): string => (path === undefined ? '<nil>' : dotted(path));

function checkText(value: string, node: SchemaNode, path: Path | undefined, findings: Findings): void {
  const cause = textCause(value, node, path);
  if (cause !== undefined) findings.causes.push(cause);
  if (node.checkFormat !== undefined && !node.checkFormat(value)) {
    findings.causes.push(typeCause(path, node.schema.format ?? '', value));
  }
  findings.matches++;
}

function textCause(value: string, node: SchemaNode, path: Path | undefined): FieldCause | undefined {
  const { maxLength, minLength } = node.schema;
  // A string never has more characters than UTF-16 units, so most need no counting.
  if (maxLength !== undefined && value.length > maxLength && characters(value) > maxLength) {
    return tooLong(fieldOf(path), maxLength);
  }
  if (minLength !== undefined && characters(value) < minLength) {
    return invalidValue(fieldOf(path), value, `${dotted(path)} in body should be at least ${minLength} chars long`);
  }
  const pattern = node.pattern;
  if (pattern !== undefined && !pattern.test(value)) {
    const why = pattern.error === undefined ? '' : `, but pattern is invalid: ${pattern.error}`;
    return invalidValue(fieldOf(path), value, `${dotted(path)} in body should match '${node.schema.pattern}${why}'`);
  }
  return undefined;
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function checkNumber(value: number, node: SchemaNode, path: Path | undefined, findings: Findings): void {
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node.schema;
  findings.matches += 2;
  const whole = isWhole(value);
  const bound = (limit: number): number => (whole ? Math.trunc(limit) : limit);
  const say = (what: unknown, why: string): void => {
    findings.causes.push(invalidValue(fieldOf(path), what, why));
  };
  if (multipleOf !== undefined) {
    const factor = bound(multipleOf);
    if (factor <= 0) say(factor, `factor MultipleOf declared for ${dotted(path)} must be positive: ${factor}`);
    else if (!isMultiple(value, factor)) say(value, `${dotted(path)} in body should be a multiple of ${factor}`);
  }
  if (minimum !== undefined) {
    const limit = bound(minimum);
    if (exclusiveMinimum === true) {
      if (value <= limit) say(value, `${dotted(path)} in body should be greater than ${limit}`);
    } else if (value < limit) {
      say(value, `${dotted(path)} in body should be greater than or equal to ${limit}`);
    }
  }
  if (maximum !== undefined) {
    const limit = bound(maximum);
    if (exclusiveMaximum === true) {
      if (value >= limit) say(value, `${dotted(path)} in body should be less than ${limit}`);
    } else if (value > limit) {
      say(value, `${dotted(path)} in body should be less than or equal to ${limit}`);
    }
  }
}

function isMultiple(value: number, factor: number): boolean {
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function checkEnum(value: unknown, allowed: readonly unknown[], path: Path | undefined, findings: Findings): void {
  findings.matches++;
  if (value === undefined || allowed.some((each) => deepEqual(each, value))) return;
  const supported = allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  findings.causes.push(unsupportedValue(fieldOf(path), value, supported));
}

function checkList(
  list: readonly unknown[],
  node: SchemaNode,
  path: Path | undefined,
  old: unknown,
  findings: Findings,
): void {
  const { minItems, maxItems, uniqueItems } = node.schema;
  const { causes } = findings;
  findings.matches += 2;
  const items = node.items;
  if (items !== undefined) {
    const oldFor = old === undefined ? undefined : oldItems(node, old);
    for (let at = 0; at < list.length; at++) check(list[at], items, index(path, at), oldFor?.(list[at]), findings);
  }
  if (minItems !== undefined && list.length < minItems) {
    causes.push(
      invalidValue(fieldOf(path), list.length, `${dotted(path)} in body should have at least ${minItems} items`),
    );
  }
  if (maxItems !== undefined && list.length > maxItems) causes.push(tooMany(fieldOf(path), list.length, maxItems));
  if (uniqueItems === true && new Set(list.map(canonicalJson)).size < list.length) {
    causes.push(invalidValue(fieldOf(path), '', `${dotted(path)} in body shouldn't contain duplicates`));
  }
}

function checkObject(
  object: Readonly<Record<string, unknown>>,
  node: SchemaNode,
  path: Path | undefined,
  old: unknown,
  findings: Findings,
): void {
  const { minProperties, maxProperties, required: names, additionalProperties } = node.schema;
  const { causes } = findings;
  const { properties, additional } = node;
  if (minProperties !== undefined || maxProperties !== undefined) {
    const count = Object.keys(object).length;
    if (minProperties !== undefined && count < minProperties) {
      const why = `${dotted(path)} in body should have at least ${minProperties} properties`;
      causes.push(invalidValue(fieldOf(path), count, why));
    }
    if (maxProperties !== undefined && count > maxProperties) causes.push(tooMany(fieldOf(path), count, maxProperties));
  }
  for (const name in object) {
    const value = object[name];
    if (value === undefined || !Object.hasOwn(object, name)) continue;
    const child = properties.get(name) ?? additional;
    if (child !== undefined) {
      // Old and new object have been converted to the same version, so an equal apiVersion or kind means nothing.
      const ratchets = old !== undefined && !(path === undefined && (name === 'apiVersion' || name === 'kind'));
      check(value, child, field(path, name), ratchets ? oldField(old, name) : undefined, findings);
    } else if (additionalProperties === false) {
      causes.push(invalidValue(fieldOf(path), name, `${dotted(field(path, name))} in body is a forbidden property`));
    }
  }
  if (names !== undefined) {
    for (const name of names) {
      if (!Object.hasOwn(object, name) || object[name] === undefined) causes.push(required(dotted(field(path, name))));
    }
  }
  findings.matches++;
}

function checkLogic(value: unknown, node: SchemaNode, path: Path | undefined, old: unknown, findings: Findings): void {
  const { causes } = findings;
  const where = JSON.stringify(dotted(path));
  const say = (why: string): void => {
    causes.push(invalidValue('<nil>', '', `${where} ${why}`));
  };
  const attempt = (alternative: SchemaNode): Findings => {
    const result: Findings = { causes: [], isAttempt: true, matches: 0 };
    // Not `check`: errors of unchanged fields inside may be dropped, but not those of an alternative as a whole.
    inspect(value, alternative, path, old, result);
    return result;
  };

  if (node.anyOf.length > 0) {
    let nearest: Findings | undefined;
    let passed: Findings | undefined;
    for (const alternative of node.anyOf) {
      const result = attempt(alternative);
      if (result.causes.length === 0) {
        passed = result;
        break;
      }
      if (nearest === undefined || result.matches > nearest.matches) nearest = result;
    }
    if (passed !== undefined) {
      findings.matches += passed.matches;
    } else {
      say('must validate at least one schema (anyOf)');
      merge(findings, nearest);
    }
  }

  if (node.oneOf.length > 0) {
    let nearest: Findings | undefined;
    let first: Findings | undefined;
    let count = 0;
    for (const alternative of node.oneOf) {
      const result = attempt(alternative);
      if (result.causes.length === 0) {
        count++;
        nearest = undefined;
        first ??= result;
      } else if (count === 0 && (nearest === undefined || result.matches > nearest.matches)) {
        nearest = result;
      }
    }
    if (count === 1) {
      findings.matches += first?.matches ?? 0;
    } else {
      const found = count === 0 ? 'Found none valid' : `Found ${count} valid alternatives`;
      say(`must validate one and only one schema (oneOf). ${found}`);
      merge(findings, nearest);
    }
  }

  if (node.allOf.length > 0) {
    let passed = 0;
    for (const part of node.allOf) {
      const result = attempt(part);
      if (result.causes.length === 0) passed++;
      merge(findings, result);
    }
    if (passed < node.allOf.length) {
      say(`must validate all the schemas (allOf)${passed === 0 ? '. None validated' : ''}`);
    }
  }

  if (node.not !== undefined && attempt(node.not).causes.length === 0) say('must not validate the schema (not)');
  findings.matches += 2;
}

function merge(into: Findings, from: Findings | undefined): void {
  if (from === undefined) return;
  into.causes.push(...from.causes);
  into.matches += from.matches;
}
