// What a live object says about itself: it does its work, not yet, or nobody can tell.
import type { Condition } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/object.ts';
import { isObject } from '../../base/json.ts';

export type Verdict =
  | { readonly is: 'available' }
  /** `why` must not count what changes by itself: every other text is another write on the hub. */
  | { readonly is: 'not-yet'; readonly why: string }
  /** It has tried and given up: waiting alone will not help. `detail` is of that moment, and may count things: later ones are not told. */
  | { readonly is: 'failed'; readonly why: string; readonly detail?: string }
  | { readonly is: 'untracked' };

/** Pure: a live object → what it says. */
export type Rule = (live: KubeObject) => Verdict;

export const available: Verdict = { is: 'available' };
export const untracked: Verdict = { is: 'untracked' };
export const notYet = (why: string): Verdict => ({ is: 'not-yet', why });

export const failed = (why: string, detail?: string): Verdict => ({
  is: 'failed',
  why,
  ...(detail === undefined ? {} : { detail }),
});

export const isWaitedFor = (verdict: Verdict | undefined): boolean =>
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

/** Whoever writes the status has seen the newest spec. */
export const isObserved = (live: KubeObject): boolean =>
  count(fieldsOf(live.status), 'observedGeneration') === (live.metadata.generation ?? 0);

export const conditionIn = (live: KubeObject, type: string): Partial<Condition> | undefined => {
  const { conditions } = fieldsOf(live.status);
  if (!Array.isArray(conditions)) return undefined;
  return conditions.map(fieldsOf).find((each) => each['type'] === type) as Partial<Condition> | undefined;
};
