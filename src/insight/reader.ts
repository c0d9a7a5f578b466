// What explanations read: an interface, so that the CLI answers it over a connection and a web page in its own way. A right that is missing takes a
// link out of an explanation, never the answer.
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
  /** Those that may be about the placement. */
  overrides(): Promise<Readable<readonly OverrideInForce[]>>;
  /** The objects of a revision. */
  objectsAt(index: number): Promise<Readable<readonly KubeObject[]>>;
  members(): Promise<Readable<readonly MemberCluster[]>>;
  groups(): Promise<Readable<readonly HubClusterGroup[]>>;
  freezes(): Promise<Readable<readonly HubFreeze[]>>;
  member(name: string): Promise<Readable<MemberCluster | undefined>>;
  worksOf(binding: HubBinding): Promise<Readable<readonly Work[]>>;
  /** Those that were read so far. */
  worksRead(): readonly Work[];
  work(namespace: string, name: string): Promise<Readable<Work | undefined>>;
  /** What its member says of workloads of it that do not come up, or do not go; of a member that the caller has no way to, nothing. */
  behind(work: Work, now: number): Promise<readonly Evidence[]>;
  events(about: KubeObject): Promise<Readable<readonly KubeObject[]>>;
  placement(): Promise<Readable<Placement | undefined>>;
  /** Of the placement's namespace, if it is in one. */
  run(name: string): Promise<Readable<StagedUpdateRun | undefined>>;
  /** All of the placement. */
  runs(): Promise<Readable<readonly StagedUpdateRun[]>>;
  approvalRequest(name: string): Promise<Readable<ApprovalRequest | undefined>>;
  /** Whether the server's CRD has the field `status.holds`; undefined = unknown. */
  hasHolds(kind?: string): Promise<boolean | undefined>;
  /** What could not be read so far, each once. */
  unread(): readonly string[];
}
