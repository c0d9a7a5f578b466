// Label selectors: compiles query strings and LabelSelector objects to the same form. Matching allocates nothing.
import { by } from './compare.ts';
import { ApiError, UserError } from './errors.ts';
import { labelValueErrors, qualifiedNameErrors } from './names.ts';

type LabelMap = Readonly<Record<string, string>>;

export type SelectorOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  /** Sorted, without duplicates. */
  readonly values: readonly string[];
}

export interface Selector {
  /** True if it has no requirements, so it selects everything. */
  readonly empty: boolean;
  /** Sorted by key. */
  readonly requirements: readonly Requirement[];
  matches(labels: LabelMap | undefined): boolean;
}

/** The LabelSelector in Kubernetes' specs. */
export interface LabelSelector {
  readonly matchLabels?: LabelMap;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export const everything: Selector = { empty: true, requirements: [], matches: () => true };

/** The meaning of an absent LabelSelector in most specs. */
export const nothing: Selector = { empty: false, requirements: [], matches: () => false };

const LONGEST_SELECTOR = 65_536;
const NO_LABELS: LabelMap = Object.freeze({});
const INTEGER = /^[+-]?\d{1,19}$/;

// ---- compiled form

type Test = (labels: LabelMap) => boolean;

// Only strings count: the values that a plain object inherits (`constructor`) are functions and must not look like
// labels.
function testOf({ key, operator, values }: Requirement): Test {
  const [first = ''] = values;
  const many = values.length > 8 ? new Set(values) : undefined;
  const has = many ? (value: string) => many.has(value) : (value: string) => values.includes(value);
  switch (operator) {
    case '=':
    case '==':
      return (labels) => labels[key] === first;
    case '!=':
      return (labels) => labels[key] !== first;
    case 'in':
      return (labels) => {
        const value = labels[key];
        return typeof value === 'string' && has(value);
      };
    case 'notin':
      return (labels) => {
        const value = labels[key];
        return typeof value !== 'string' || !has(value);
      };
    case 'exists':
      return (labels) => typeof labels[key] === 'string';
    case '!':
      return (labels) => typeof labels[key] !== 'string';
    case 'gt':
    case 'lt': {
      const bound = BigInt(first);
      return (labels) => {
        const value = labels[key];
        if (typeof value !== 'string' || !isInteger(value)) return false;
        return operator === 'gt' ? BigInt(value) > bound : BigInt(value) < bound;
      };
    }
  }
}

function compile(requirements: readonly Requirement[]): Selector {
  if (requirements.length === 0) return everything;
  const sorted = requirements.toSorted(by((each) => each.key));
  const tests = sorted.map(testOf);
  const [only] = tests;
  return {
    empty: false,
    requirements: sorted,
    matches:
      tests.length === 1 && only !== undefined
        ? (labels) => only(labels ?? NO_LABELS)
        : (labels = NO_LABELS) => {
            for (const test of tests) if (!test(labels)) return false;
            return true;
          },
  };
}

function isInteger(text: string): boolean {
  return INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Validates key and values; returns the errors of Kubernetes, including the path. */
function complaintsOf({ key, operator, values }: Requirement): readonly string[] {
  const complaints: string[] = [];
  const keyErrors = qualifiedNameErrors(key);
  if (keyErrors.length > 0) complaints.push(`key: Invalid value: ${JSON.stringify(key)}: ${keyErrors.join('; ')}`);
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    complaints.push(`values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`);
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    complaints.push(
      `values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`,
    );
  }
  for (const [index, value] of values.entries()) {
    if ((operator === 'gt' || operator === 'lt') && !isInteger(value)) {
      complaints.push(
        `values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) {
      complaints.push(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${valueErrors.join('; ')}`);
    }
  }
  return complaints;
}

const joined = (complaints: readonly string[]): string =>
  complaints.length === 1 ? (complaints[0] ?? '') : `[${complaints.join(', ')}]`;

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

// ---- from strings

/** Compiles a `labelSelector` query. Throws ApiError 400 with the message of Kubernetes. */
export function parseSelector(text: string): Selector {
  if (text.length > LONGEST_SELECTOR) {
    throw refusal(`unable to parse requirement: the selector is longer than ${LONGEST_SELECTOR} characters`);
  }
  const tokens = tokensOf(text);
  const requirements: Requirement[] = [];
  if (tokens.peek() === END) return everything;
  for (;;) {
    const start = tokens.peek();
    if (!isWord(start) && start !== '!') {
      throw refusal(
        requirements.length === 0
          ? `found '${start}', expected: !, identifier, or 'end of string'`
          : `found '${start}', expected: identifier after ','`,
      );
    }
    requirements.push(requirementOf(tokens));
    const after = tokens.next();
    if (after === END) return compile(requirements);
    if (after !== ',') throw refusal(`found '${after}', expected: ',' or 'end of string'`);
  }
}

const refusal = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

const unparsed = (why: string): ApiError => refusal(`unable to parse requirement: ${why}`);

const END = '';
const SYMBOLS = new Set(['(', ')', ',', '!', '=', '==', '!=', '>', '<', END]);
const isWord = (token: string): boolean => !SYMBOLS.has(token);

interface Tokens {
  peek(): string;
  next(): string;
}

/** Symbols and words of the text, then END. */
function tokensOf(text: string): Tokens {
  const words = text.match(/==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+/g) ?? [];
  let position = 0;
  return { peek: () => words[position] ?? END, next: () => words[position++] ?? END };
}

function requirementOf(tokens: Tokens): Requirement {
  const negated = tokens.peek() === '!';
  if (negated) tokens.next();
  const key = tokens.next();
  if (!isWord(key)) throw unparsed(`found '${key}', expected: identifier`);
  const keyErrors = qualifiedNameErrors(key);
  if (keyErrors.length > 0) throw unparsed(`<nil>: Invalid value: ${JSON.stringify(key)}: ${keyErrors.join('; ')}`);
  if (tokens.peek() === END || tokens.peek() === ',') return { key, operator: negated ? '!' : 'exists', values: [] };
  if (negated) return { key, operator: '!', values: [] };

  const requirement: Requirement = { key, ...operationOf(tokens) };
  const complaints = complaintsOf(requirement);
  if (complaints.length > 0) throw unparsed(joined(complaints));
  return requirement;
}

function operationOf(tokens: Tokens): Pick<Requirement, 'operator' | 'values'> {
  const operator = tokens.next();
  switch (operator) {
    case '=':
    case '==':
    case '!=':
      return { operator, values: [exactValue(tokens)] };
    case '>':
      return { operator: 'gt', values: [exactValue(tokens)] };
    case '<':
      return { operator: 'lt', values: [exactValue(tokens)] };
    case 'in':
    case 'notin':
      return { operator, values: distinct(valueList(tokens)) };
    default:
      throw unparsed(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function exactValue(tokens: Tokens): string {
  if (tokens.peek() === END || tokens.peek() === ',') return '';
  const value = tokens.next();
  if (!isWord(value)) throw unparsed(`found '${value}', expected: identifier`);
  return value;
}

/** `(a,b)`; an empty item between commas is the empty value. */
function valueList(tokens: Tokens): readonly string[] {
  const open = tokens.next();
  if (open !== '(') throw unparsed(`found '${open}' expected: '('`);
  const first = tokens.peek();
  if (!isWord(first) && first !== ',' && first !== ')') {
    throw unparsed(`found '${first}', expected: ',', ')' or identifier`);
  }
  const values: string[] = [];
  for (;;) {
    const token = tokens.peek();
    if (isWord(token)) {
      values.push(tokens.next());
      if (tokens.peek() !== ',' && tokens.peek() !== ')') {
        throw unparsed(`found '${tokens.peek()}', expected: ',' or ')'`);
      }
    } else if (token === ',' || token === ')') {
      values.push('');
    } else {
      throw unparsed(`found '${token}', expected: ',', or identifier`);
    }
    if (tokens.next() === ')') return values;
  }
}

// ---- from objects

const OPERATORS: Readonly<Record<string, SelectorOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

const compiled = new WeakMap<LabelSelector, Selector>();

/** Compiles a LabelSelector: absent selects nothing, empty selects everything. Throws UserError if it is invalid. */
export function compileLabelSelector(selector: LabelSelector | undefined): Selector {
  if (selector === undefined || selector === null) return nothing;
  const known = compiled.get(selector);
  if (known !== undefined) return known;
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: '=', values: [value] });
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const word = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (word === undefined) {
      throw new UserError('InvalidSelector', `${JSON.stringify(operator)} is not a valid label selector operator`);
    }
    requirements.push({ key, operator: word, values: distinct(values) });
  }
  for (const requirement of requirements) {
    const complaints = complaintsOf(requirement);
    if (complaints.length > 0) throw new UserError('InvalidSelector', joined(complaints));
  }
  const result = compile(requirements);
  // Only frozen selectors are cached by identity, because others can still change.
  if (Object.isFrozen(selector)) compiled.set(selector, result);
  return result;
}

/**
 * Requires every given label with its value: the older form of selectors, as in a Service. Empty selects everything.
 */
export const compileLabelMap = (labels: LabelMap): Selector =>
  compile(Object.entries(labels).map(([key, value]) => ({ key, operator: '=' as const, values: [value] })));

export const matchesLabels = (selector: LabelSelector | undefined, labels: LabelMap | undefined): boolean =>
  compileLabelSelector(selector).matches(labels);

/** The query string of a selector: the value of `status.selector` of a Scale. */
export const formatSelector = (selector: Selector): string => selector.requirements.map(formatRequirement).join(',');

function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}
