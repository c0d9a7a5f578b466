// The contract of a property provider: a module that reports more about a cluster than the agent collects itself.
// docs/property-providers.md has an example that the test suite runs.
import type { Transport } from '../../api/transport.ts';

export interface ProviderContext {
  /** The name of the member. */
  readonly cluster: string;
  /** The member's own API server, with the permissions of the agent. */
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

/** Replaces the previous report: a property that is missing here is removed from the MemberCluster. */
export interface Collected {
  /** Keys are qualified names, as for labels; scheduling compares values that are quantities. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Quantities by resource name. Absent = the agent's own values. */
  readonly resources?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly available?: Readonly<Record<string, string>>;
  };
  readonly conditions?: readonly ProviderCondition[];
}

export interface PropertyProvider {
  /**
   * Starts the provider's watches. Must not wait for them: after ten seconds the start counts as failed and is retried
   * later.
   */
  start?(context: ProviderContext): Promise<void> | void;
  /**
   * Called on every heartbeat, possibly while an earlier call is outstanding. If it takes longer than ten seconds, the
   * previous values stay.
   */
  collect(signal: AbortSignal): Promise<Collected> | Collected;
}
