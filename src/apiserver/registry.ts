// Which resources a cluster serves: the built-in kinds, the same for all clusters of a process, and what its CRDs add.
// Only shapes here. Built-in entries come from builtin/, custom ones from schema/custom-resource.ts.
import type { FieldCause, Kind } from '../api/kind.ts';
import type { KubeObject, ObjectMeta, User } from '../api/object.ts';
import type { Schema } from '../api/schema.ts';
import type { Json, Mutable } from '../base/json.ts';
import type { Cluster } from './cluster.ts';

/** A private, unfrozen object on its way into the store. */
export interface Draft {
  apiVersion: string;
  kind: string;
  metadata: Mutable<ObjectMeta>;
  spec?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

/** What a schema does to objects, compiled once per schema and shared by all clusters of the process. */
export interface Structure {
  /** Fills in the defaults that the schema names; deletes nulls that the schema does not allow unless `nulls` is 'keep'. */
  default(draft: Draft, nulls?: 'delete' | 'keep'): void;
  /** Takes unknown fields out and returns their paths as strict decoding prints them: `spec.replicaz`, `spec.ports[0].nam`. */
  prune(draft: Draft): readonly string[];
  /** Built-in kinds: what a typed decoder would say of a value of the wrong type, or undefined. */
  decodeError(draft: Draft): string | undefined;
  /** Custom kinds: schema, list types and CEL rules, in Kubernetes' words. Runs on a defaulted object. */
  validate(object: KubeObject, old: KubeObject | undefined): readonly FieldCause[];
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/** How `kubectl get` shows a kind. */
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
  /** Between this version and the stored one. Absent = same fields, only apiVersion (and kind's group) differ. */
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
  /** As discovery lists them. Reviews have `create` only. */
  readonly verbs: readonly string[];
  /** Verbs that are served although discovery does not list them. */
  readonly unlistedVerbs?: readonly string[];
  /** Served versions, preferred first. */
  readonly versions: readonly ServedVersion[];
  readonly stored: ServedVersion;
  readonly hasStatus: boolean;
  readonly scale?: ScaleShape;
  /** Further subresources with their own handlers: token, binding, finalize, eviction, approval … */
  readonly subresources: readonly Subresource[];
  readonly behaviour: Behaviour;
  /** Admission beyond the schema, called in process: of our own kinds, and of built-in ones where a cluster has some. */
  readonly admission?: Pick<Kind, 'reads'> & Required<Pick<Kind, 'admit'>>;
  /** Where its objects are kept when it shows those of another resource: events of events.k8s.io are the core ones. */
  readonly keptAs?: { readonly group: string; readonly plural: string };
  /** Set when a CRD brought it. */
  readonly custom?: { readonly crdName: string; readonly crdUid: string };
}

export interface Subresource {
  readonly name: string;
  /** The kind that is sent and answered, e.g. TokenRequest of authentication.k8s.io/v1. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** What a write may know beyond the object. */
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
  /** The writer of a status owns what it sends of them all the same. */
  readonly areOwned?: true;
}

/** What makes a kind special on the server. All of it pure but for reading the cluster through the context. */
export interface Behaviour {
  /** Counts metadata.generation on changes outside metadata and status. ConfigMaps and their like do not. */
  readonly countsGeneration: boolean;
  /** Deployments: changed annotations count, too. */
  readonly annotationsCount?: true;
  /** PUT of an absent name creates it. */
  readonly createOnUpdate: boolean;
  /** PUT without a resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** DELETE answers with the last object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Finalizers need no domain: custom objects and CRDs, whose own finalizer has none. */
  readonly plainFinalizers?: true;
  /** Metadata that a write to /status does not change. Absent = none: such a write carries metadata, too. */
  readonly statusKeeps?: StatusKeeps;
  /** Returns what is wrong with a name, or undefined. */
  nameError(name: string, isPrefix: boolean): string | undefined;
  /** Fills in what a real server fills in. Runs on every write, before prepare and validation. Must be idempotent. */
  default?(draft: Draft): void;
  /** Takes out what is not stored although it has an owner: as on a real server, once ownership is tracked. */
  drop?(draft: Draft): void;
  /** What the server itself decides: allotted addresses, first phase, fields that clients may not set. */
  prepare?(draft: Draft, old: KubeObject | undefined, context: WriteContext): void;
  validate?(object: KubeObject, old: KubeObject | undefined, context: WriteContext): readonly FieldCause[];
  /** Reviews: answers instead of being stored. */
  answer?(draft: Draft, context: WriteContext): KubeObject;
  /** Pods: how long a deletion waits for a kubelet to finish it with grace 0. 0 = delete now. */
  graceSeconds?(object: KubeObject, asked: number | undefined): number;
  /** Throws when an object may never be deleted: the namespaces that every cluster needs. */
  refuseDelete?(object: KubeObject, context: WriteContext): void;
  /** Namespaces: something besides metadata.finalizers still keeps a deleted object. */
  holdsDeletion?(object: KubeObject): boolean;
  /** Namespaces: what changes on the object when its deletion begins. */
  markTerminating?(draft: Draft): void;
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
}

export interface Found {
  readonly resource: ServedResource;
  readonly version: ServedVersion;
}

export interface Registry {
  /** By the words of a URL. Only served versions. */
  find(group: string, version: string, plural: string): Found | undefined;
  /** By kind; version absent = the preferred one. */
  findKind(group: string, kind: string, version?: string): Found | undefined;
  /** All resources, ordered by group and plural. */
  all(): readonly ServedResource[];
  /** Changes whenever `all()` does: the key of everything derived from it (discovery, OpenAPI). */
  readonly epoch: number;
}
