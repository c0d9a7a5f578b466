// A ConfigMap that is an envelope: it has the annotation, and every value of its data is one manifest. Annotated
// ConfigMaps with other data are placed unchanged, as their owners expect.
// Differs from KubeFleet: it places every ConfigMap unchanged, although it documents envelopes of this kind.
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

/** For a ConfigMap that is an envelope. */
export const objectsInConfigMap = (object: KubeObject): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries((object as { readonly data?: Readonly<Record<string, string>> }).data ?? {}).map(([key, text]) => [
      key,
      valuesIn(text)[0],
    ]),
  );

/** Whether the ConfigMap is annotated as an envelope; its data may still be something else. */
export const isMarkedConfigMap = ({ apiVersion, kind, metadata }: KubeObject): boolean =>
  kind === 'ConfigMap' && apiVersion === 'v1' && metadata.annotations?.[annotations.envelopeConfigMap] === 'true';

const textsIn = (object: KubeObject): readonly string[] =>
  Object.values((object as { readonly data?: Readonly<Record<string, string>> }).data ?? {});

/** In characters. Parsing more YAML would delay all other work; etcd accepts little more. */
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

/** JSON is valid YAML, but JSON.parse is much faster. */
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
