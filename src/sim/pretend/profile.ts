// The behavior of a simulated cluster as plain data, so that a fleet file can contain it. It is reproducible: every
// random value is derived from the seed and the name of its object, never from the order of events.

import type { PodSpec } from '../../api/builtin/shapes.ts';
import { numberOf } from './names.ts';

/** A fixed number of milliseconds, or a range, from which a value is drawn per Pod. */
export type Span = number | { readonly fromMs: number; readonly toMs: number };

export type Fault =
  /** The image cannot be pulled: the Pod waits forever with ImagePullBackOff. */
  | 'PullFails'
  /** The container exits immediately after every start: CrashLoopBackOff. A Job's Pod fails. */
  | 'Crashes'
  /** The container runs, but its readiness probe always fails. */
  | 'NeverReady';

export interface FaultRule {
  /** Applies to images whose tag, digest or (without either) name contains this. */
  readonly tag: string;
  readonly fault: Fault;
  /** The percentage of Pods that have the fault; absent = all. */
  readonly percent?: number;
}

export interface Profile {
  readonly seed: number;
  /** From bound to running. */
  readonly pullMs: Span;
  /** From running to ready. */
  readonly readyMs: Span;
  /** From the deletion to the end of the containers; never longer than the grace period. */
  readonly stopMs: Span;
  /** How long the Pods of Jobs run. */
  readonly jobMs: Span;
  /** Multiplies pullMs, readyMs, stopMs and jobMs, for a slow cluster. */
  readonly slowness: number;
  readonly faults: readonly FaultRule[];
  /** The interval of Node Lease renewals; 0 = no Leases. */
  readonly leaseMs: number;
  /** The interval of writes to a Node's status without changes. */
  readonly nodeStatusMs: number;
}

export const DEFAULT_PROFILE: Profile = Object.freeze({
  seed: 1,
  pullMs: 1_000,
  readyMs: 1_000,
  stopMs: 1_000,
  jobMs: 3_000,
  slowness: 1,
  faults: Object.freeze([
    Object.freeze({ tag: 'bad', fault: 'PullFails' as const }),
    Object.freeze({ tag: 'crash', fault: 'Crashes' as const }),
  ]),
  leaseMs: 10_000,
  nodeStatusMs: 300_000,
});

export const profileOf = (given: Partial<Profile>): Profile => ({ ...DEFAULT_PROFILE, ...given });

export interface Timing {
  readonly pullMs: number;
  readonly readyMs: number;
  readonly stopMs: number;
  readonly jobMs: number;
  readonly fault: Fault | undefined;
  /** The image that has the fault. */
  readonly image: string;
}

/** The behavior of one Pod, determined before it exists. `name` is `<namespace>/<name>`. */
export function timingOf(profile: Profile, name: string, spec: Pick<PodSpec, 'containers' | 'initContainers'>): Timing {
  const images = [...(spec.initContainers ?? []), ...spec.containers].map(({ image = '' }) => image);
  const draw = (what: string, span: Span) =>
    profile.slowness *
    (typeof span === 'number'
      ? span
      : span.fromMs + numberOf(`${profile.seed}/${what}/${name}`, Math.max(1, span.toMs - span.fromMs + 1)));
  let fault: Fault | undefined;
  let faulty = '';
  for (const image of images) {
    const rule = profile.faults.find(
      ({ tag, percent = 100 }) =>
        versionOf(image).includes(tag) && numberOf(`${profile.seed}/${tag}/${name}`, 100) < percent,
    );
    if (rule === undefined) continue;
    fault = rule.fault;
    faulty = image;
    break;
  }
  return {
    pullMs: draw('pull', profile.pullMs),
    readyMs: draw('ready', profile.readyMs),
    stopMs: draw('stop', profile.stopMs),
    jobMs: draw('job', profile.jobMs),
    fault,
    image: faulty,
  };
}

/** The part after the name of an image: `registry:5000/app:v2` → `v2`. For an image without a tag its name. */
export function versionOf(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  const at = name.search(/[:@]/);
  return at < 0 ? name : name.slice(at + 1);
}
