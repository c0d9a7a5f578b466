// What all apply strategies have in common: the case that is judged, the operation that comes of it, and the interface of a strategy that writes.
import type { ApplyStrategy } from '../../api/apply-strategy.ts';
import type { Resource } from '../../api/kind.ts';
import type { KubeObject, OwnerReference } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Identifier, Refusal } from './manifest.ts';
import type { Manager } from './outcome.ts';
import type { Owners } from './ownership.ts';
import type { Wanted } from './wanted.ts';

/** Client-side and server-side apply, one file each. Pure. ReportDiff writes nothing and has none. */
export interface Manner {
  /** The object as it is created. */
  created(wanted: Wanted): KubeObject;
  /** The write to a live object that the strategy lets us write. */
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
  /** `isOurs`: it must be given back. */
  | ({ readonly do: 'refuse'; readonly isOurs?: true } & Refusal);

export interface ServerSideApply {
  readonly do: 'apply';
  readonly body: JsonObject;
  readonly force: boolean;
  readonly takesOver: boolean;
  /** What must be changed before: our older field managers, the record of client-side apply, and what that had placed. */
  readonly first?: Dropped;
  /** uids of owners that are dropped: an applied configuration can only drop its own. */
  readonly drops: readonly string[];
  /** What other managers own: when that changes, a refused write may be accepted. */
  readonly foreign: readonly Manager[];
}

/** A patch that removes what the manifest has dropped. */
export interface Dropped {
  readonly type: 'strategic' | 'merge';
  readonly body: JsonObject;
}

export type Strategy = Pick<
  ApplyStrategy,
  'type' | 'comparisonOption' | 'whenToApply' | 'whenToTakeOver' | 'allowCoOwnership' | 'serverSideApplyConfig'
>;

export interface Case {
  readonly identifier: Identifier;
  readonly resource: Resource;
  readonly wanted: Wanted;
  readonly live: KubeObject | undefined;
  readonly owner: OwnerReference;
  /** Of references to AppliedWorks: their owner does not exist any more. */
  isOrphaned(reference: OwnerReference): boolean;
  /** Of references to AppliedWorks: another Work of the binding that hands the object over. */
  isYielded?(reference: OwnerReference): boolean;
  /** Of references to AppliedWorks: the placement behind it, if it can be told. */
  placementOf(reference: OwnerReference): string | undefined;
  /** Of references to AppliedWorks: where the same placement names the object twice. */
  bothPlaces?(reference: OwnerReference): string | undefined;
  readonly strategy: Strategy;
}
