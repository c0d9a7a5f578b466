// JSON merge patch in the API server: the error messages of Kubernetes.
import { badRequest } from '../../api/status.ts';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { mergePatch } from '../../base/merge-patch.ts';
import { jsonKind } from './json-kind.ts';

/** The original with the patch merged in. Throws ApiError 400 if the patch is not an object. */
export function applyMergePatch(original: Json, patch: Json): Json {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isJsonObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergePatch(original, patch);
}

const isJsonObject = (value: Json): value is JsonObject => isObject(value);
