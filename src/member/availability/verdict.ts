// What the status of a live object shows: available, not yet available, failed, or not trackable.

import type { StartFailure } from '../../api/apply-cause.ts';
import type { Condition } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';
import type { LabelSelector } from '../../base/selector.ts';

export type Verdict =
  | { readonly is: 'available' }
  /** `why` must not contain numbers that change by themselves: every other text is another write on the hub. */
  | ({ readonly is: 'not-yet'; readonly why: string } & Starting)
  /**
   * The workload's controller has given up. `detail` describes the first moment and may contain numbers; later ones are
   * not reported.
   */
  | ({ readonly is: 'failed'; readonly why: string; readonly detail?: string } & Starting)
  | { readonly is: 'untracked' };

export interface Trouble {
  readonly code: StartFailure;
  /** The first message; later ones are not reported. */
  readonly message: string;
}

/** Selects the Pods of a workload's newest template. */
export interface NewestPods {
  readonly selector: LabelSelector;
  /** Labels that only the newest Pods have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Deployments: the revision of their ReplicaSet. */
  readonly revision?: string;
}

/** For workloads that are not available. */
interface Starting {
  /** Why it does not start. */
  readonly trouble?: Trouble;
  /** The Pods whose status shows the cause. */
  readonly pods?: NewestPods;
}

/** Pure: judges a live object. */
export type Rule = (live: KubeObject, ignored: ReadonlySet<string>) => Verdict;

export const available: Verdict = { is: 'available' };
export const untracked: Verdict = { is: 'untracked' };
export const notYet = (why: string, starting: Starting = {}): Verdict => ({ is: 'not-yet', why, ...starting });

export const failed = (why: string, detail?: string, starting: Starting = {}): Verdict => ({
  is: 'failed',
  why,
  ...(detail === undefined ? {} : { detail }),
  ...starting,
});

type Waiting = Extract<Verdict, { is: 'not-yet' | 'failed' }>;

export const isWaitedFor = (verdict: Verdict | undefined): verdict is Waiting =>
  verdict?.is === 'not-yet' || verdict?.is === 'failed';

export const atOnce: Rule = () => available;

// ---- reading foreign status: any field may be missing or have another type

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** Kubernetes omits zeros. */
export const count = (fields: Fields, name: string): number => {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
};

/** `spec.replicas`; absent means 1. */
export const wantedReplicas = (live: KubeObject): number => {
  const { replicas } = fieldsOf(live.spec);
  return typeof replicas === 'number' ? replicas : 1;
};

/** The controller that writes the status has observed the newest spec. */
export const isObserved = (live: KubeObject): boolean =>
  count(fieldsOf(live.status), 'observedGeneration') === (live.metadata.generation ?? 0);

export const conditionIn = (live: KubeObject, type: string): Partial<Condition> | undefined => {
  const { conditions } = fieldsOf(live.status);
  if (!Array.isArray(conditions)) return undefined;
  return conditions.map(fieldsOf).find((each) => each['type'] === type) as Partial<Condition> | undefined;
};
