// YAML as Kubernetes reads it, safe for text from strangers: aliases cannot multiply, nesting cannot exhaust the stack, and what
// comes out is plain JSON data without a `__proto__` key.
import { parseAllDocuments, parseDocument, type ScalarTag } from 'yaml';
import { isObject } from './json.ts';

/** The text is no YAML that we read. The message names the line. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

const MOST_ALIASES = 100;
const MOST_DEPTH = 500;

// Kubernetes reads these two the old way (YAML 1.1), and manifests rely on it: `defaultMode: 0644`, `enabled: yes`.
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
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/** One document. An empty text is null. */
export function parseYaml(text: string): unknown {
  return guarded(text, () => toJson(parseDocument(text, options), text));
}

/** All documents of a stream, empty ones left out. */
export function parseYamlDocuments(text: string): readonly unknown[] {
  return guarded(text, () => {
    const documents = parseAllDocuments(text, options);
    if (!Array.isArray(documents)) return [];
    return documents.map((document) => toJson(document, text)).filter((value) => value !== null);
  });
}

type Parsed = Pick<ReturnType<typeof parseDocument>, 'errors' | 'toJS'>;

function toJson(document: Parsed, text: string): unknown {
  const [error] = document.errors;
  if (error) throw new YamlError(`line ${lineAt(text, error.pos[0])}: ${error.message}`);
  return plain(document.toJS({ maxAliasCount: MOST_ALIASES }), 0);
}

function guarded<T>(text: string, parse: () => T): T {
  checkNesting(text);
  try {
    return parse();
  } catch (error) {
    if (error instanceof YamlError) throw error;
    // The library throws a ReferenceError for too many aliases and a RangeError when the stack ends.
    throw new YamlError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Flow collections nest without indentation, and cheaply for whoever sends them. */
function checkNesting(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) {
      if (++depth > MOST_DEPTH * 4) throw new YamlError(`line ${lineAt(text, i)}: exceeded max depth`);
    } else if ((code === 0x5d || code === 0x7d) && depth > 0) depth--;
  }
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** JSON data only: keys become text, dates and other classes do not survive, `__proto__` is left out. */
function plain(value: unknown, depth: number): unknown {
  if (depth > MOST_DEPTH) throw new YamlError('exceeded max depth');
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (!isObject(value)) return typeof value === 'bigint' ? Number(value) : (value ?? null);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (key !== '__proto__') copy[key] = plain(value[key], depth + 1);
  return copy;
}
