// A ConfigMap that stands for the objects in it: it is annotated so, and every value of its data is the text of one. There are annotated ConfigMaps
// with other data, whose owners expect them to be placed as they are.
// Differs from KubeFleet: it places every ConfigMap as it is, although it documents envelopes of this kind.
import { isObject } from '../base/json.ts';
import { parseYamlDocuments } from '../base/yaml.ts';
import { annotations } from './names.ts';
import type { KubeObject } from './object.ts';

export function isEnvelopeConfigMap(object: KubeObject): boolean {
  if (!isMarkedConfigMap(object)) return false;
  const texts = textsIn(object);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= LONGEST && texts.every(isManifest);
}

/** Of one that is an envelope. */
export const objectsInConfigMap = (object: KubeObject): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries((object as { readonly data?: Readonly<Record<string, string>> }).data ?? {}).map(([key, text]) => [
      key,
      valuesIn(text)[0],
    ]),
  );

/** A user calls it an envelope; what it contains may be something else. */
export const isMarkedConfigMap = ({ apiVersion, kind, metadata }: KubeObject): boolean =>
  kind === 'ConfigMap' && apiVersion === 'v1' && metadata.annotations?.[annotations.envelopeConfigMap] === 'true';

const textsIn = (object: KubeObject): readonly string[] =>
  Object.values((object as { readonly data?: Readonly<Record<string, string>> }).data ?? {});

/** In characters. Reading more YAML than that would delay all others; etcd takes little more. */
const LONGEST = 1024 * 1024;
const WORDS = ['apiVersion', 'kind', 'metadata', 'name'];
const hasWordsOfManifest = (text: string): boolean => WORDS.every((word) => text.includes(word));

function isManifest(text: string): boolean {
  if (!hasWordsOfManifest(text)) return false;
  const [object, ...others] = valuesIn(text);
  if (!isObject(object) || others.length > 0) return false;
  const { apiVersion, kind, metadata } = object;
  return isName(apiVersion) && isName(kind) && isObject(metadata) && isName(metadata['name']);
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** JSON is YAML, and much faster to read as what it is. */
function valuesIn(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    try {
      return parseYamlDocuments(text);
    } catch {
      return [];
    }
  }
}
