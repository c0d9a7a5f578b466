// The definition of a kind; types, CRD, OpenAPI, defaults and columns are derived from it.
import type { StatusCause } from '../base/errors.ts';
import type { KubeObject, User } from './object.ts';
import type { Schema } from './schema.ts';

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** A column of `kubectl get`, as in a CRD's additionalPrinterColumns. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  /** 1 = only with `-o wide`. */
  readonly priority?: number;
}

/** One served version of a kind. Versions share the type; a version may lack columns or rules of another one. */
export interface KindVersion {
  readonly version: string;
  readonly schema: Schema;
  readonly columns: readonly Column[];
}

export interface Kind<Spec = unknown, Status = unknown> extends Resource {
  /** The schema of the whole object in the storage version. */
  readonly schema: Schema;
  /** All served versions, most preferred first; `version` (of Resource) is the storage version. */
  readonly versions: readonly KindVersion[];
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly columns: readonly Column[];
  readonly hasStatus: boolean;
  readonly doc: string;
  /**
   * Defaults and validation beyond the schema. Pure. Runs in process on the embedded server, and in a webhook on a real
   * one.
   */
  admit?(request: AdmitRequest<Spec, Status>): Admitted;
  /** The reads that `admit` needs for this request; absent = none. Pure. */
  reads?(request: AdmitQuestion<Spec, Status>): readonly AdmitRead[];
}

/** The version that clients use by default: kubectl looks for the Events of an object in this one. */
export const preferredVersion = (resource: Resource | Kind): string =>
  ('versions' in resource ? resource.versions[0]?.version : undefined) ?? resource.version;

/** Additional admission of one cluster for a kind that every server has. */
export type Admission = Pick<Kind, 'group' | 'kind' | 'reads'> & Required<Pick<Kind, 'admit'>>;

export type FieldCause = StatusCause & { readonly field: string };

export type Admitted =
  | { readonly ok: true; readonly object: KubeObject; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly causes: readonly FieldCause[] };

export interface AdmitQuestion<Spec, Status> {
  readonly verb: 'create' | 'update' | 'delete';
  readonly subresource?: 'status' | 'scale';
  readonly dryRun: boolean;
  readonly now: number;
  readonly user: User;
  readonly object?: KubeObject<Spec, Status>;
  readonly old?: KubeObject<Spec, Status>;
}

export interface AdmitRequest<Spec, Status> extends AdmitQuestion<Spec, Status> {
  /** Only objects declared by `reads`. */
  readonly lookup: ReadOnly;
}

/** One object, or without a name a collection, optionally in one namespace. */
export interface AdmitRead {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name?: string;
}

/** The objects that an admission decision can read. */
export interface ReadOnly {
  get(resource: Resource, name: string, namespace?: string): KubeObject | undefined;
  list(resource: Resource, namespace?: string): readonly KubeObject[];
}
