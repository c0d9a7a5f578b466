// The contract of a property provider: a module that tells more of a cluster than the agent collects itself. docs/property-providers.md has an
// example that the suite runs.
import type { Transport } from '../../api/transport.ts';

export interface ProviderContext {
  /** The name of the member. */
  readonly cluster: string;
  /** The member's own API server, with the rights of the agent. */
  readonly member: Transport;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
}

export interface ProviderCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message?: string;
}

/** Replaces what was reported before: a property that is missing here is removed from the MemberCluster. */
export interface Collected {
  /** By label-style names; scheduling compares values that are quantities. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Quantities by resource name. Absent = the agent's own figures. */
  readonly resources?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly available?: Readonly<Record<string, string>>;
  };
  readonly conditions?: readonly ProviderCondition[];
}

export interface PropertyProvider {
  /** Begins to watch what it needs. Must not wait for it: after ten seconds it counts as failed and is tried again later. */
  start?(context: ProviderContext): Promise<void> | void;
  /** Called on every heartbeat, perhaps while an earlier call has not returned. After ten seconds the values of before stay. */
  collect(signal: AbortSignal): Promise<Collected> | Collected;
}
