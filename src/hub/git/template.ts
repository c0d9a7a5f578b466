// `${ }` in Helm values: the name and the labels of the cluster that they are rendered for (spec 09 §5.3). Pure, with
// only a few functions, so that expressions from a repository always terminate fast.
import { labels as labelKeys } from '../../api/names.ts';
import type { Labels } from '../../api/object.ts';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';

export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

type Operand =
  | { readonly is: 'text'; readonly text: string }
  /** `required`: a cluster without the label is an error. */
  | { readonly is: 'label'; readonly key: string; readonly required: boolean };

interface Step {
  readonly call: 'default' | 'quote' | 'upper' | 'lower' | 'trim';
  readonly argument?: Operand;
}

interface Expression {
  readonly source: string;
  readonly operand: Operand;
  readonly steps: readonly Step[];
}

type Part = string | Expression;

const MAX_NESTING = 50;
const LABEL_VALUE = /^global\.fleet\.clusterLabels\.(.+)$/;

export interface TemplateProblem {
  readonly place: readonly (string | number)[];
  readonly message: string;
}

/** The first unsupported expression. */
export function templateProblem(values: Json): TemplateProblem | undefined {
  let at: TemplateProblem['place'] = [];
  try {
    walk(values, [], (text, place) => {
      at = place;
      if (!LABEL_VALUE.test(text)) partsOf(text);
      return text;
    });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { place: at, message: error.message };
  }
  return undefined;
}

/** The labels that the values depend on, sorted. Throws a TemplateError for an unsupported expression. */
export function labelsUsed(values: Json): readonly string[] {
  const keys = new Set<string>();
  walk(values, [], (text) => {
    const [, whole] = LABEL_VALUE.exec(text) ?? [];
    if (whole !== undefined) keys.add(whole);
    else
      for (const part of partsOf(text)) {
        if (typeof part === 'string') continue;
        for (const operand of [part.operand, ...part.steps.map(({ argument }) => argument)])
          if (operand?.is === 'label') keys.add(operand.key);
      }
    return text;
  });
  return [...keys].toSorted();
}

/** The values for one cluster. Throws a TemplateError if it lacks a label. */
export const filledValues = (values: JsonObject, labels: Labels): JsonObject =>
  walk(values, [], (text) => {
    const [, whole] = LABEL_VALUE.exec(text) ?? [];
    if (whole !== undefined) return labelIn(labels, whole) ?? '';
    return partsOf(text)
      .map((part) => (typeof part === 'string' ? part : valueIn(part, labels)))
      .join('');
  }) as JsonObject;

/** A label may have the name of a property that every object inherits. */
const labelIn = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

type Change = (text: string, place: TemplateProblem['place']) => string;

function walk(value: Json, place: TemplateProblem['place'], change: Change): Json {
  if (place.length > MAX_NESTING) throw new TemplateError(`values are nested more than ${MAX_NESTING} levels deep`);
  if (typeof value === 'string') return change(value, place);
  if (Array.isArray(value)) return value.map((each: Json, at) => walk(each, [...place, at], change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, each]) => [key, walk(each as Json, [...place, key], change)]),
  );
}

function valueIn({ source, operand, steps }: Expression, labels: Labels): string {
  const read = (each: Operand): string | undefined => (each.is === 'text' ? each.text : labelIn(labels, each.key));
  let value = read(operand);
  for (const { call, argument } of steps) {
    if (call === 'default') {
      if (value === undefined || value === '') value = argument === undefined ? '' : read(argument);
    } else if (value !== undefined) value = FUNCTIONS[call](value);
  }
  if (value !== undefined) return value;
  if (operand.is === 'label' && operand.required)
    throw new TemplateError(`\${${source}}: the cluster has no label "${operand.key}"`);
  return '';
}

const FUNCTIONS: Readonly<Record<Exclude<Step['call'], 'default'>, (text: string) => string>> = {
  quote: (text) => JSON.stringify(text),
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trim: (text) => text.trim(),
};

// ---- parsing

function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (;;) {
    const begin = text.indexOf('${', at);
    if (begin < 0) break;
    const end = endOf(text, begin + 2);
    if (end < 0) throw new TemplateError(`"\${" without "}" in ${JSON.stringify(text.slice(0, 80))}`);
    if (begin > at) parts.push(text.slice(at, begin));
    parts.push(expressionIn(text.slice(begin + 2, end)));
    at = end + 1;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** The index of the closing brace; a brace within quotes does not count. */
function endOf(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    if (isQuoted && text[at] === '\\') at++;
    else if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === '}' && !isQuoted) return at;
  }
  return -1;
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(\|)|([^\s|"]+))/y;

function expressionIn(source: string): Expression {
  const unsupported = () =>
    new TemplateError(
      `\${${source}} is not supported: .ClusterName, .ClusterLabels.x, index .ClusterLabels "x", default, quote, upper, lower and trim are`,
    );
  const commands: string[][] = [[]];
  const text = source.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) throw unsupported();
    if (match[2] !== undefined) commands.push([]);
    else commands.at(-1)?.push(match[1] ?? match[3] ?? '');
  }
  const [first = [], ...rest] = commands;
  const start = startOf(first, unsupported);
  const steps = rest.map(([call = '', ...args]): Step => {
    if (call === 'default' && args.length === 1) return { call, argument: operandIn(args[0] ?? '', unsupported) };
    if (Object.hasOwn(FUNCTIONS, call) && args.length === 0) return { call: call as keyof typeof FUNCTIONS };
    throw unsupported();
  });
  return { source, operand: start.operand, steps: [...start.steps, ...steps] };
}

/** `.ClusterName`, `index .ClusterLabels "x"`, `default "a" .ClusterLabels.x`, `quote .ClusterName`. */
function startOf(tokens: readonly string[], unsupported: () => Error): Pick<Expression, 'operand' | 'steps'> {
  const [call = '', ...args] = tokens;
  if (args.length === 0) return { operand: operandIn(call, unsupported), steps: [] };
  if (call === 'index' && args[0] === '.ClusterLabels' && args.length === 2) {
    const key = operandIn(args[1] ?? '', unsupported);
    if (key.is === 'text') return { operand: { is: 'label', key: key.text, required: false }, steps: [] };
  }
  if (call === 'default' && args.length === 2)
    return {
      operand: operandIn(args[1] ?? '', unsupported),
      steps: [{ call, argument: operandIn(args[0] ?? '', unsupported) }],
    };
  if (Object.hasOwn(FUNCTIONS, call) && args.length === 1)
    return { operand: operandIn(args[0] ?? '', unsupported), steps: [{ call: call as keyof typeof FUNCTIONS }] };
  throw unsupported();
}

function operandIn(token: string, unsupported: () => Error): Operand {
  if (token.startsWith('"')) {
    try {
      return { is: 'text', text: JSON.parse(token) as string };
    } catch {
      throw unsupported();
    }
  }
  // Every cluster has a label with its name.
  if (token === '.ClusterName') return { is: 'label', key: labelKeys.memberName, required: true };
  const [, key] = /^\.ClusterLabels\.([A-Za-z0-9_]+)$/.exec(token) ?? [];
  if (key === undefined) throw unsupported();
  return { is: 'label', key, required: true };
}
