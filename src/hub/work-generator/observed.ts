// What the work generator reads of a binding, its Works and what they should contain.
import type { ReportBackStrategy } from '../../api/apply-strategy.ts';
import type { ResourceSnapshot } from '../../api/resource-snapshot.ts';
import type { Failure } from '../../runtime/controller.ts';
import type { PlacementFamily } from '../families.ts';
import type { HubOverrideSnapshot } from '../overrides/matching.ts';
import type { HubBinding } from '../placement-sources.ts';
import type { HubWork } from '../work-source.ts';

export interface Observed {
  readonly family: PlacementFamily;
  readonly binding: HubBinding;
  /** Those labelled with the binding, and those that have the names it asks for. */
  readonly works: readonly HubWork[];
  /** The group that the binding names; `missing` = it was deleted, `incomplete` = parts are not in the cache yet. */
  readonly group: readonly ResourceSnapshot[] | 'missing' | 'incomplete';
  /** Those that the binding names, cluster-scoped ones first; a text = the key of one that does not exist. */
  readonly overrides: readonly HubOverrideSnapshot[] | string;
  readonly isMemberThere: boolean;
  /** It is being deleted: its Works stay until its namespace goes, so what runs there keeps running. */
  readonly isMemberLeaving: boolean;
  /** Another binding is the survivor for its cluster: its Works are not touched but to hand them over. */
  readonly survivor?: HubBinding;
  /** Whether its Works keep what they have taken over; undefined = as they say themselves. */
  readonly keepsTakenOver?: boolean | undefined;
  /** How its Works report back; `as it is` = the placement is gone. */
  readonly reportBack?: ReportBackStrategy | 'as it is' | undefined;
  /** What stopped the last pass over this binding. */
  readonly failure?: Failure;
  readonly now: number;
}
