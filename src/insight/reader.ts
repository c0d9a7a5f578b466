// What explanations read, as an interface: the CLI implements it over a connection, a web page in another way. A
// missing permission removes a part of an explanation, never the answer.
import type { ApprovalRequest } from '../api/approval-request.ts';
import type { MemberCluster } from '../api/member-cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { Placement } from '../api/placement.ts';
import type { StagedUpdateRun } from '../api/staged-update-run.ts';
import type { Work } from '../api/work.ts';
import type { HubFreeze } from '../hub/freezes/sources.ts';
import type { HubClusterGroup } from '../hub/groups/sources.ts';
import type { OverrideInForce } from '../hub/overrides/in-force.ts';
import type { HubBinding, HubPolicySnapshot, HubResourceSnapshot } from '../hub/placement-sources.ts';
import type { Evidence } from './explain/explanation.ts';

export type Readable<T> = { readonly value: T } | { readonly unreadable: string };

export const ifRead = <T>(read: Readable<T>): T | undefined => ('value' in read ? read.value : undefined);

export interface Reader {
  bindings(): Promise<Readable<readonly HubBinding[]>>;
  policySnapshot(): Promise<Readable<HubPolicySnapshot | undefined>>;
  resourceSnapshots(): Promise<Readable<readonly HubResourceSnapshot[]>>;
  /** Overrides that may apply to the placement. */
  overrides(): Promise<Readable<readonly OverrideInForce[]>>;
  /** The objects of a revision. */
  objectsAt(index: number): Promise<Readable<readonly KubeObject[]>>;
  members(): Promise<Readable<readonly MemberCluster[]>>;
  groups(): Promise<Readable<readonly HubClusterGroup[]>>;
  freezes(): Promise<Readable<readonly HubFreeze[]>>;
  member(name: string): Promise<Readable<MemberCluster | undefined>>;
  worksOf(binding: HubBinding): Promise<Readable<readonly Work[]>>;
  /** Works that were read so far. */
  worksRead(): readonly Work[];
  work(namespace: string, name: string): Promise<Readable<Work | undefined>>;
  /**
   * The member's report about workloads of this Work that do not start or are not deleted; empty if the caller has no
   * access to the member.
   */
  behind(work: Work, now: number): Promise<readonly Evidence[]>;
  events(about: KubeObject): Promise<Readable<readonly KubeObject[]>>;
  placement(): Promise<Readable<Placement | undefined>>;
  /** In the namespace of the placement, if it has one. */
  run(name: string): Promise<Readable<StagedUpdateRun | undefined>>;
  /** All runs of the placement. */
  runs(): Promise<Readable<readonly StagedUpdateRun[]>>;
  approvalRequest(name: string): Promise<Readable<ApprovalRequest | undefined>>;
  /** Whether the server's CRD has the field `status.holds`; undefined = unknown. */
  hasHolds(kind?: string): Promise<boolean | undefined>;
  /** What could not be read so far, without duplicates. */
  unread(): readonly string[];
}
