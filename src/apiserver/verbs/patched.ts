// Applies a patch to a value, by its type.
import { resolveBuiltin } from '../../api/builtin/types.ts';
import { unsupportedMediaType } from '../../api/status.ts';
import type { PatchType } from '../../api/transport.ts';
import type { Json } from '../../base/json.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicPatch } from '../patch/strategic.ts';
import type { At } from './call.ts';

export interface Patch {
  readonly type: PatchType;
  readonly body: unknown;
  readonly force?: boolean;
}

/** All types except apply, which merges by field owners. */
export type OwnPatch = Patch & { readonly type: Exclude<PatchType, 'apply'> };

/** An unsupported type is rejected even if the object does not exist. */
export function checkPatchType(at: At, { type }: Patch): void {
  if (type === 'strategic' && at.resource.custom) {
    throw unsupportedMediaType(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json',
    );
  }
}

/** The result of a patch of a supported type, on a value in the version of the client. */
export function patchedValue(at: At, value: Json, { type, body }: OwnPatch): Json {
  switch (type) {
    case 'json':
      return applyJsonPatch(value, body as Json);
    case 'merge':
      return applyMergePatch(value, body as Json);
    case 'strategic':
      return applyStrategicPatch(value, body as Json, at.version.schema, resolveBuiltin);
  }
}
