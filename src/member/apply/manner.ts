// What all apply strategies share: the case, the operation, and the interface of a strategy that writes.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Ignored } from './leaving.ts';
import type { Identifier, Refusal } from './manifest.ts';
import type { Manager } from './outcome.ts';
import type { Owners } from './ownership.ts';
import type { Wanted } from './wanted.ts';

/** Client-side and server-side apply implement it, one file each. Pure. ReportDiff writes nothing and has none. */
export interface Manner {
  /** The body of the create. */
  created(wanted: Wanted): KubeObject;
  /** The write to a live object, which the strategy permits. */
  change(each: Case, live: KubeObject, owners: Owners): Operation;
}

export type Operation =
  | { readonly do: 'create'; readonly object: KubeObject }
  | {
      readonly do: 'patch';
      readonly type: 'strategic' | 'merge';
      readonly body: JsonObject;
      readonly takesOver: boolean;
    }
  | ServerSideApply
  | { readonly do: 'nothing' }
  /** `isOurs`: the object must be given back. */
  | ({ readonly do: 'refuse'; readonly isOurs?: true } & Refusal);

export interface ServerSideApply {
  readonly do: 'apply';
  readonly body: JsonObject;
  readonly force: boolean;
  readonly takesOver: boolean;
  /**
   * A patch to send first: it moves our older field managers and the record of client-side apply, and removes dropped
   * fields.
   */
  readonly first?: Dropped;
  /** uids of owners to remove with a separate patch, because apply can remove only its own entries. */
  readonly drops: readonly string[];
  /** Field managers of other clients: when they change, the API server may accept a write that it rejected before. */
  readonly foreign: readonly Manager[];
}

/** A patch that removes fields that the manifest no longer has. */
export interface Dropped {
  readonly type: 'strategic' | 'merge';
  readonly body: JsonObject;
}

export type Strategy = Pick<
  ApplyStrategy,
  | 'type'
  | 'comparisonOption'
  | 'whenToApply'
  | 'whenToTakeOver'
  | 'allowCoOwnership'
  | 'serverSideApplyConfig'
  | 'comparePatches'
  | 'ignoreConditions'
>;

export interface Case {
  readonly identifier: Identifier;
  readonly resource: Resource;
  readonly wanted: Wanted;
  readonly live: KubeObject | undefined;
  readonly owner: OwnerReference;
  /** For references to AppliedWorks: whether their owner no longer exists. */
  isOrphaned(reference: OwnerReference): boolean;
  /** For references to AppliedWorks: whether another Work of the binding hands the object over. */
  isYielded?(reference: OwnerReference): boolean;
  /** For references to AppliedWorks: the placement of their Work, if known. */
  placementOf(reference: OwnerReference): string | undefined;
  /** For references to AppliedWorks: where the same placement contains the object twice. */
  bothPlaces?(reference: OwnerReference): string | undefined;
  readonly strategy: Strategy;
  /** What comparePatches say of its fields; absent = nothing. */
  readonly ignored?: Ignored | undefined;
}
