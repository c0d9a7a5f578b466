// The resources that a cluster serves: built-in kinds, shared by all clusters of a process, and those of its CRDs. Only
// shapes here: built-in entries come from builtin/, custom ones from schema/custom-resource.ts.
import type { FieldCause, Kind } from '../api/kind.ts';
import type { KubeObject, ObjectMeta, User } from '../api/object.ts';
import type { Schema } from '../api/schema.ts';
import type { Json, Mutable } from '../base/json.ts';
import type { Cluster } from './cluster.ts';

/** A private, mutable object that is not stored yet. */
export interface Draft {
  apiVersion: string;
  kind: string;
  metadata: Mutable<ObjectMeta>;
  spec?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

/**
 * Defaulting, pruning and validation of a schema, compiled once per schema and shared by all clusters of the process.
 */
export interface Structure {
  /** Sets the defaults of the schema; removes nulls that the schema does not allow, unless `nulls` is 'keep'. */
  default(draft: Draft, nulls?: 'delete' | 'keep'): void;
  /**
   * Removes unknown fields and returns their paths in the format of strict decoding: `spec.replicaz`,
   * `spec.ports[0].nam`.
   */
  prune(draft: Draft): readonly string[];
  /** Built-in kinds: the error of a typed decoder for a value of the wrong type, or undefined. */
  decodeError(draft: Draft): string | undefined;
  /**
   * Custom kinds: validates schema, list types and CEL rules, with Kubernetes' messages. Expects a defaulted object.
   */
  validate(object: KubeObject, old: KubeObject | undefined): readonly FieldCause[];
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** The columns of `kubectl get` for a kind. */
export interface TableShape {
  readonly columns: readonly TableColumn[];
  cells(object: KubeObject, now: number): readonly Json[];
}

export interface ServedVersion {
  readonly version: string;
  readonly served: boolean;
  readonly schema: Schema;
  readonly structure: Structure;
  readonly table: TableShape;
  /**
   * Conversion to and from the storage version. Absent = equal fields; only apiVersion (and the group of the kind)
   * differ.
   */
  readonly convert?: { toStored(object: KubeObject): KubeObject; fromStored(object: KubeObject): KubeObject };
  readonly deprecationWarning?: string;
}

export interface ScaleShape {
  /** JSON paths as in a CRD: `.spec.replicas`. */
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface ServedResource {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** As in discovery. Reviews have `create` only. */
  readonly verbs: readonly string[];
  /** Verbs that are served but not in discovery. */
  readonly unlistedVerbs?: readonly string[];
  /** Served versions, preferred first. */
  readonly versions: readonly ServedVersion[];
  readonly stored: ServedVersion;
  readonly hasStatus: boolean;
  readonly scale?: ScaleShape;
  /** Other subresources with their own handlers: token, binding, finalize, eviction, approval … */
  readonly subresources: readonly Subresource[];
  readonly behaviour: Behaviour;
  /**
   * Admission beyond the schema, called in process: for our own kinds, and for built-in ones on clusters that have
   * some.
   */
  readonly admission?: Pick<Kind, 'reads'> & Required<Pick<Kind, 'admit'>>;
  /** The resource whose objects it serves in another form: events of events.k8s.io are stored as core events. */
  readonly keptAs?: { readonly group: string; readonly plural: string };
  /** Set if a CRD defines the resource. */
  readonly custom?: { readonly crdName: string; readonly crdUid: string };
}

export interface Subresource {
  readonly name: string;
  /** The kind of the request and the response, e.g. TokenRequest of authentication.k8s.io/v1. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** The context of a write. */
export interface WriteContext {
  readonly cluster: Cluster;
  readonly user: User;
  readonly now: number;
  readonly dryRun: boolean;
  readonly verb: 'create' | 'update';
  readonly subresource: string | undefined;
  warn(text: string): void;
}

export type MetadataField = 'labels' | 'annotations' | 'finalizers' | 'ownerReferences';

export interface StatusKeeps {
  readonly fields: readonly MetadataField[];
  /** The manager of a status write still becomes the owner of these fields. */
  readonly areOwned?: true;
}

/** The special behavior of a kind on the server. Pure, except for reads of the cluster through the context. */
export interface Behaviour {
  /** Increments metadata.generation on changes outside metadata and status. ConfigMaps and similar kinds do not. */
  readonly countsGeneration: boolean;
  /** Deployments: changed annotations increment the generation, too. */
  readonly annotationsCount?: true;
  /** PUT of an object that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** PUT without a resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** DELETE returns the last object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Finalizers need no domain: for custom objects, and for CRDs, whose own finalizer has none. */
  readonly plainFinalizers?: true;
  /** Metadata that a write to /status does not change. Absent = such a write changes all metadata. */
  readonly statusKeeps?: StatusKeeps;
  /** Returns why a name is invalid, or undefined. */
  nameError(name: string, isPrefix: boolean): string | undefined;
  /**
   * Sets the same defaults as a real server. Runs on every write, before prepare and validation. Must be idempotent.
   */
  default?(draft: Draft): void;
  /**
   * Removes fields that are not stored although they get an owner: as on a real server, after ownership is recorded.
   */
  drop?(draft: Draft): void;
  /**
   * Sets the fields that only the server sets: allocated addresses, the initial phase, fields that clients may not set.
   */
  prepare?(draft: Draft, old: KubeObject | undefined, context: WriteContext): void;
  validate?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): readonly FieldCause[];
  /** Reviews: computes the response; nothing is stored. */
  answer?(draft: Draft, context: WriteContext): KubeObject;
  /** Pods: how long a deletion waits for a kubelet to delete with grace period 0. 0 = delete now. */
  graceSeconds?(object: KubeObject, asked: number | undefined): number;
  /** Throws if the object may never be deleted: the namespaces that every cluster needs. */
  refuseDelete?(object: KubeObject, context: WriteContext): void;
  /** Namespaces: a deleted object is kept by more than metadata.finalizers. */
  holdsDeletion?(object: KubeObject): boolean;
  /** Namespaces: changes the object when its deletion begins. */
  markTerminating?(draft: Draft): void;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
}

export interface Found {
  readonly resource: ServedResource;
  readonly version: ServedVersion;
}

export interface Registry {
  /** By the segments of a URL. Only served versions. */
  find(group: string, version: string, plural: string): Found | undefined;
  /** By kind; version absent = the preferred one. */
  findKind(group: string, kind: string, version?: string): Found | undefined;
  /** All resources, sorted by group and plural. */
  all(): readonly ServedResource[];
  /** Changes whenever `all()` does; cache key for derived documents (discovery, OpenAPI). */
  readonly epoch: number;
}
