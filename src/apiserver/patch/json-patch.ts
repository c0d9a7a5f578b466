// JSON patch in the API server: accepted bodies, the maximum number of operations, and error messages. The engine is
// base/json-patch.ts.
import { badRequest, tooLarge } from '../../api/status.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type Json } from '../../base/json.ts';
import { JsonPatchError, patched, type RawOperation } from '../../base/json-patch.ts';
import { jsonKind } from './json-kind.ts';

const MAX_OPERATIONS = 10_000;

/**
 * The original with all operations applied. Throws ApiError: 400 malformed, 413 too many operations, 422 if one does
 * not apply.
 */
export function applyJsonPatch(original: Json, patch: Json): Json {
  if (patch === null) return original;
  if (!Array.isArray(patch)) throw undecodable(patch, '[]handlers.jsonPatchOp');
  if (patch.length > MAX_OPERATIONS) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  for (const operation of patch as readonly Json[]) {
    if (!isObject(operation)) throw undecodable(operation, 'handlers.jsonPatchOp');
    for (const field of ['op', 'path', 'from']) {
      const text = operation[field] as Json | undefined;
      if (text !== undefined && text !== null && typeof text !== 'string') {
        throw undecodable(text, 'string', `Go struct field jsonPatchOp.${field} of type`);
      }
    }
  }
  try {
    return patched(original, patch as unknown as readonly RawOperation[]);
  } catch (error) {
    throw error instanceof JsonPatchError ? inapplicable(error) : error;
  }
}

const undecodable = (value: Json, type: string, into = 'Go value of type'): ApiError =>
  badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(value)} into ${into} ${type}`);

// A real server gives no reason. The message must be equal, because tools compare it, so our reason is only the cause,
// for logs and tests.
const inapplicable = (cause: JsonPatchError): ApiError =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {}, { cause });
