// The objects in the files that a user names with -f: YAML or JSON, files, folders or `-` for standard input.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../api/object.ts';
import { UserError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { parseYamlDocuments, YamlError } from '../../base/yaml.ts';
import { whyUnreadable } from '../server/unreadable.ts';

export interface Manifest {
  readonly object: KubeObject;
  /** Its file, for messages. */
  readonly source: string;
}

export function readManifests(paths: readonly string[]): readonly Manifest[] {
  return paths.flatMap((path) => filesOf(path).flatMap((file) => parseManifests(textOf(file), file)));
}

export function parseManifests(text: string, source: string): readonly Manifest[] {
  try {
    return parseYamlDocuments(text).flatMap((value, index) => objectsIn(value, `${source} (document ${index + 1})`));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new UserError('ManifestInvalid', `cannot read ${source}: ${error.message}`, { cause: error });
  }
}

function objectsIn(value: unknown, where: string): readonly Manifest[] {
  if (!isObject(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string') {
    throw new UserError('ManifestInvalid', `${where} is not a Kubernetes object: apiVersion and kind are needed`);
  }
  if (value['kind'] === 'List' && Array.isArray(value['items'])) {
    return value['items'].flatMap((item, index) => objectsIn(item, `${where}, item ${index + 1}`));
  }
  if (!isObject(value['metadata'])) throw new UserError('ManifestInvalid', `${where} has no metadata`);
  return [{ object: value as unknown as KubeObject, source: where }];
}

function filesOf(path: string): readonly string[] {
  if (path === '-') return [path];
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path)
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort()
      .map((name) => join(path, name));
  } catch (cause) {
    throw new UserError('Unreadable', `cannot read ${path}: ${whyUnreadable(cause)}`, { cause });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new UserError('Unreadable', `cannot read ${file}: ${whyUnreadable(cause)}`, { cause });
  }
}
