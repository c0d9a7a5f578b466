// What a live object reports about itself: it works, not yet, or it cannot be tracked.

import type { StartFailure } from '../../api/apply-cause.ts';
import type { Condition } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';
import type { LabelSelector } from '../../base/selector.ts';

export type Verdict =
  | { readonly is: 'available' }
  /** `why` must not count what changes by itself: every other text is another write on the hub. */
  | ({ readonly is: 'not-yet'; readonly why: string } & Starting)
  /** It has tried and given up: waiting alone will not help. `detail` is of that moment, and may count things: later ones are not told. */
  | ({ readonly is: 'failed'; readonly why: string; readonly detail?: string } & Starting)
  | { readonly is: 'untracked' };

export interface Trouble {
  readonly code: StartFailure;
  /** Of the moment when it was seen: later ones are not reported. */
  readonly message: string;
}

/** Which Pods are those of a workload's newest template. */
export interface NewestPods {
  readonly selector: LabelSelector;
  /** Labels that only the newest ones have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Deployments: the revision of their ReplicaSet. */
  readonly revision?: string;
}

/** Of workloads that are not available. */
interface Starting {
  /** What keeps it from starting. */
  readonly trouble?: Trouble;
  /** The Pods that can tell what does. */
  readonly pods?: NewestPods;
}

/** Pure: a live object → what it says. */
export type Rule = (live: KubeObject) => Verdict;

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

// ---- reading what others wrote: anything may be missing or of another type

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** Kubernetes leaves zeros out. */
export const count = (fields: Fields, name: string): number => {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
};

/** `spec.replicas`; absent means 1. */
export const wantedReplicas = (live: KubeObject): number => {
  const { replicas } = fieldsOf(live.spec);
  return typeof replicas === 'number' ? replicas : 1;
};

/** The writer of the status has seen the newest spec. */
export const isObserved = (live: KubeObject): boolean =>
  count(fieldsOf(live.status), 'observedGeneration') === (live.metadata.generation ?? 0);

export const conditionIn = (live: KubeObject, type: string): Partial<Condition> | undefined => {
  const { conditions } = fieldsOf(live.status);
  if (!Array.isArray(conditions)) return undefined;
  return conditions.map(fieldsOf).find((each) => each['type'] === type) as Partial<Condition> | undefined;
};
