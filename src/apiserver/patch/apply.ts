// Server-side apply: its place and its shape. The verb asks for it here; until it exists the refusal says so.
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../../api/schema.ts';
import { unsupportedMediaType } from '../../api/status.ts';
import type { ApiError } from '../../base/errors.ts';

export interface ApplyInput {
  /** The object as it is; absent = the apply creates it. */
  readonly live: KubeObject | undefined;
  /** What the manager wants: the whole of what it has an opinion about. */
  readonly config: KubeObject;
  readonly manager: string;
  /** Takes fields from other managers instead of answering 409. */
  readonly force: boolean;
  readonly subresource?: string;
  readonly schema: Schema;
  readonly resolve: (ref: string) => Schema;
  readonly now: number;
}

/** Pure. Returns the merged object with its managedFields; throws ApiError 409 with one cause per conflict. */
export type Apply = (input: ApplyInput) => KubeObject;

/** What a PATCH of type apply gets until an Apply exists. kubectl prints the sentence. */
export const refuseApply = (): ApiError =>
  unsupportedMediaType(
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json (server-side apply is not served yet; use kubectl apply without --server-side)',
  );
