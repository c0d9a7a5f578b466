// YAML as Kubernetes reads it, safe for untrusted text: aliases cannot multiply, nesting cannot exhaust the stack, and
// the result is plain JSON data, in which `__proto__` is an ordinary key.
import { Composer, type CST, type Document, isMap, isScalar, isSeq, Parser, type ScalarTag } from 'yaml';
import { isObject, setField } from './json.ts';
import { MAX_DEPTH } from './json-nesting.ts';

/** The text is not valid or not supported YAML. The message names the line. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** The position in the text, if known. */
  readonly line: number | undefined;
  /** The message without the line. */
  readonly detail: string;

  constructor(message: string, options: { readonly cause?: unknown; readonly line?: number } = {}) {
    super(options.line === undefined ? message : `line ${options.line}: ${message}`, options);
    this.line = options.line;
    this.detail = message;
  }
}

const MAX_ALIASES = 100;

// Kubernetes reads these two as in YAML 1.1, and manifests rely on it: `defaultMode: 0644`, `enabled: yes`.
const oldBoolean: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF)$/,
  resolve: (text) => /^(?:yes|on)$/i.test(text),
};
const oldOctal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

const options = {
  customTags: (tags: unknown) => [oldOctal, oldBoolean, ...(tags as ScalarTag[])],
  merge: true,
  uniqueKeys: false, // checked by checkKeys
  prettyErrors: false,
  logLevel: 'silent',
} as const;

export interface YamlLimits {
  /** In characters. Parsing takes a second per half a megabyte, so untrusted text needs a limit. */
  readonly length?: number;
}

/** One document. An empty text is null. */
export function parseYaml(text: string, { length = Number.POSITIVE_INFINITY }: YamlLimits = {}): unknown {
  if (text.length > length) throw new YamlError(`the text is longer than ${length} characters; send JSON instead`);
  const [document, second] = documentsOf(text);
  if (second !== undefined) throw new YamlError('there is more than one document');
  return document === undefined ? null : toJson(document, text);
}

/** All documents of a stream except empty ones. */
export const parseYamlDocuments = (text: string): readonly unknown[] =>
  documentsOf(text)
    .map((document) => toJson(document, text))
    .filter((value) => value !== null);

export interface LocatedDocument {
  readonly value: unknown;
  /** The line on which it begins. */
  readonly line: number;
  /** The line of a key or of an item. */
  lineOf(path: readonly (string | number)[]): number | undefined;
}

/** All documents of a stream with their lines, except empty ones. */
export const locateYamlDocuments = (text: string): readonly LocatedDocument[] =>
  documentsOf(text)
    .map((document): LocatedDocument => {
      const begin = (document.contents as { readonly range?: readonly number[] } | null)?.range?.[0] ?? 0;
      return {
        value: toJson(document, text),
        line: lineAt(text, begin),
        lineOf: (path) => lineOfPath(document.contents, path, text),
      };
    })
    .filter(({ value }) => value !== null);

function lineOfPath(node: unknown, path: readonly (string | number)[], text: string): number | undefined {
  let at: unknown = node;
  let line: number | undefined;
  for (const step of path) {
    let range: readonly number[] | null | undefined;
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && key.value === step);
      range = isScalar(pair?.key) ? pair.key.range : undefined;
      at = pair?.value;
    } else if (isSeq(at)) {
      at = at.items[Number(step)];
      range = (at as { readonly range?: readonly number[] } | undefined)?.range;
    } else return line;
    if (range === undefined || range === null) return line;
    line = lineAt(text, range[0] ?? 0);
  }
  return line;
}

function documentsOf(text: string): readonly Document.Parsed[] {
  return guarded(() => {
    // The parser has its own stack, but the composer recurses, so nesting is checked in between. It must never come
    // near the end of the real stack, because V8 ends the process if a regular expression is compiled there.
    const tokens = [...new Parser().parse(text)];
    for (const token of tokens) checkNesting(token);
    return [...new Composer(options).compose(tokens, false, text.length)];
  });
}

function toJson(document: Document.Parsed, text: string): unknown {
  const [error] = document.errors;
  if (error) throw new YamlError(error.message, { line: lineAt(text, error.pos[0]) });
  checkKeys(document.contents, text);
  return guarded(() => plain(document.toJS({ maxAliasCount: MAX_ALIASES }), 0));
}

function guarded<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof YamlError) throw error;
    // The library throws a ReferenceError for too many aliases.
    throw new YamlError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function checkNesting(root: CST.Token): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new YamlError('exceeded max depth');
    level = level.flatMap(childrenOf);
  }
}

/** A document has a value; a collection has items, each with a key and a value. */
function childrenOf(token: unknown): unknown[] {
  if (!isObject(token)) return [];
  const items = Array.isArray(token['items']) ? token['items'].flatMap((item) => [item.key, item.value]) : [];
  return [token['value'], ...items].filter(isObject);
}

/** The library's own check compares every pair of keys. */
function checkKeys(node: unknown, text: string): void {
  if (isSeq(node)) for (const item of node.items) checkKeys(item, text);
  if (!isMap(node)) return;
  const seen = new Set<unknown>();
  for (const { key, value } of node.items) {
    if (isScalar(key)) {
      if (seen.has(key.value)) {
        throw new YamlError(`key ${JSON.stringify(key.value)} already set in map`, {
          line: lineAt(text, key.range?.[0] ?? 0),
        });
      }
      if (key.value !== '<<') seen.add(key.value);
    }
    checkKeys(value, text);
  }
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** Only JSON data: keys become strings; dates and other classes are converted. */
function plain(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new YamlError('exceeded max depth');
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (!isObject(value)) return typeof value === 'bigint' ? Number(value) : (value ?? null);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setField(copy, key, plain(value[key], depth + 1));
  return copy;
}
