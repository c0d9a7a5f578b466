// References that would make kustomize or Helm read anything but the files of the bundle are refused before these run:
// their own checks allow URLs, and a program of the hub can reach local servers that users cannot. Pure.
import { isObject } from '../../base/json.ts';
import { locateYamlDocuments, YamlError } from '../../base/yaml.ts';
import { yamlProblem } from './manifests.ts';
import { type BundleFiles, nameOf, relativeTo } from './paths.ts';
import { RenderError } from './renderer.ts';

export const KUSTOMIZATION = /^(kustomization\.ya?ml|Kustomization)$/;

const LISTS = [
  'resources',
  'bases',
  'components',
  'crds',
  'configurations',
  'transformers',
  'generators',
  'validators',
];

/** Every entry must be a file or directory of the bundle: kustomize would fetch others from the network. */
export function checkKustomizations({ directory, files }: BundleFiles): void {
  const known = new Set<string>(['']);
  for (const { path } of files) {
    const parts = relativeTo(directory, path).split('/');
    for (let end = 1; end <= parts.length; end++) known.add(parts.slice(0, end).join('/'));
  }
  for (const { path, text } of files) {
    if (text === undefined) continue;
    if (!KUSTOMIZATION.test(nameOf(path))) {
      checkRemote(path, text, configurationsIn(path, text));
      continue;
    }
    checkRemote(path, text, valuesIn(path, text));
    const fields = mapIn(path, text);
    const own = relativeTo(directory, path);
    const from = own.slice(0, Math.max(0, own.lastIndexOf('/')));
    const refuse = (field: string, entry: unknown) => {
      const message = `${path}: ${field}: ${JSON.stringify(entry)} is not a file or directory of the bundle`;
      throw new RenderError('RenderFailed', message);
    };
    for (const field of ['helmCharts', 'helmChartInflationGenerator'])
      if (fields[field] !== undefined) throw new RenderError('RenderFailed', `${path}: ${field} is not supported`);
    for (const field of LISTS)
      for (const entry of Array.isArray(fields[field]) ? (fields[field] as readonly unknown[]) : []) {
        // Transformers and similar entries may be inline.
        if (typeof entry === 'string' && entry.includes('\n')) {
          checkRemote(path, entry, valuesIn(path, entry));
          continue;
        }
        const target = typeof entry === 'string' ? resolved(from, entry) : undefined;
        if (target === undefined || !known.has(target)) refuse(field, entry);
      }
    const { openapi } = fields;
    if (isObject(openapi) && !known.has(resolved(from, String(openapi['path'] ?? '')) ?? '\0'))
      refuse('openapi', openapi['path']);
  }
}

/** undefined = it leads out of the bundle. */
function resolved(from: string, path: string): string | undefined {
  const parts = from === '' ? [] : from.split('/');
  if (path.startsWith('/')) return undefined;
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

/**
 * Configurations of kustomize itself among the manifests. A file that only kustomize can parse is refused if it may
 * contain one.
 */
function configurationsIn(path: string, text: string): readonly unknown[] {
  if (!/builtin|[\\!]/.test(text)) return [];
  const found: unknown[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) walk(each);
    else if (isObject(value)) {
      if (value['apiVersion'] === 'builtin') found.push(value);
      for (const each of Object.values(value)) walk(each);
    }
  };
  if (/apiVersion\S*\s*:\s*(&\S+\s+)?!/.test(text))
    throw new RenderError('RenderFailed', `${path}: a YAML tag before an apiVersion is not supported`);
  for (const value of valuesIn(path, text)) walk(value);
  return found;
}

/** The values of these keys are content, not references. */
const CONTENT: ReadonlySet<string> = new Set([
  'literals',
  'commonAnnotations',
  'commonLabels',
  'labels',
  'annotations',
  'data',
]);
const REMOTE = /^\s*([^=\s]*=)?\s*https?:/i;
/** Text in another encoding, which kustomize would decode. */
const TAGGED = /!\S*binary|!<|^%TAG/m;

/**
 * kustomize also fetches patches and files from URLs, and no proxy stops it from calling a server on the hub's machine.
 */
function checkRemote(path: string, text: string, values: readonly unknown[]): void {
  if (values.length === 0) return;
  const refuse = (why: string): never => {
    throw new RenderError('RenderFailed', `${path}: ${why}`);
  };
  if (TAGGED.test(text)) refuse('YAML tags are not supported here');
  const walk = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH) refuse(`it is nested more than ${MAX_DEPTH} levels deep`);
    if (typeof value === 'string' && REMOTE.test(value)) refuse(`${JSON.stringify(value)} is not a file of the bundle`);
    if (Array.isArray(value)) for (const each of value) walk(each, depth + 1);
    else if (isObject(value))
      for (const [key, each] of Object.entries(value)) if (!CONTENT.has(key)) walk(each, depth + 1);
  };
  for (const value of values) walk(value, 0);
}

const MAX_DEPTH = 100;

const SCHEMA = /^values\.schema\.json$/;
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
const STANDARD = /^https?:\/\/json-schema\.org\/(draft-0[4-7]|draft\/20[12]\d-\d\d)\/schema#?$/;

/** Helm would follow the references of a schema: to any file of the machine, and any server that it can reach. */
export function checkSchemas({ directory, files }: BundleFiles): void {
  for (const { path, text } of files) {
    if (!SCHEMA.test(nameOf(path)) || text === undefined) continue;
    const refuse = (key: string, value: unknown): never => {
      const message = `${relativeTo(directory, path)}: ${key}: ${JSON.stringify(value)} leads out of the file`;
      throw new RenderError('RenderFailed', message);
    };
    const walk = (value: unknown, depth: number): void => {
      if (depth > MAX_DEPTH) refuse('schema', `more than ${MAX_DEPTH} levels`);
      if (Array.isArray(value)) for (const each of value) walk(each, depth + 1);
      else if (isObject(value))
        for (const [key, each] of Object.entries(value)) {
          if (REFERENCES.has(key) && typeof each === 'string' && !each.startsWith('#')) refuse(key, each);
          if (key === '$schema' && typeof each === 'string' && !STANDARD.test(each)) refuse(key, each);
          walk(each, depth + 1);
        }
    };
    let schema: unknown;
    try {
      schema = JSON.parse(text);
    } catch {
      throw new RenderError('RenderFailed', `${relativeTo(directory, path)}: it is no JSON`);
    }
    walk(schema, 0);
  }
}

function mapIn(path: string, text: string): Readonly<Record<string, unknown>> {
  const [first] = valuesIn(path, text);
  return isObject(first) ? first : {};
}

function valuesIn(path: string, text: string): readonly unknown[] {
  try {
    return locateYamlDocuments(text).map(({ value }) => value);
  } catch (error) {
    if (error instanceof YamlError) throw new RenderError('RenderFailed', yamlProblem(path, error));
    throw error;
  }
}
