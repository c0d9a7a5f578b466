// A minimal member: an agent that sends heartbeats and reports on its Works, without a cluster. Its content becomes
// available after a while, sometimes becomes unavailable for a moment, and never works if it is bad. Whether a report
// matches a real cluster is tested by the deliveries; here that would cost most of a world's steps.
import type { Condition } from '../../../src/api/conditions.ts';
import { finalizers, memberNamespace } from '../../../src/api/names.ts';
import { conditionOf, nextCondition } from '../../../src/api/next-condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { type Work, type WorkCondition, type WorkReason, work } from '../../../src/api/work.ts';
import { kubeTime } from '../../../src/base/clock.ts';
import { deepEqual } from '../../../src/base/json.ts';
import { type Observed as Beating, decide as beat } from '../../../src/member/heartbeat/decide.ts';
import { hubSources } from '../../../src/member/sources.ts';
import { patch, patchStatus, seen } from '../../../src/runtime/actions.ts';
import { type Controller, type Decision, idle, type Source } from '../../../src/runtime/controller.ts';
import type { Deps } from '../../../src/runtime/deps.ts';
import { startManager } from '../../../src/runtime/manager.ts';
import type { Stop } from '../../../src/sim/world.ts';

const SLOWEST_MS = 5_000;
const LONGEST_WELL_MS = 30_000;
const ILL_MS = 4_000;

export interface LightMemberOptions {
  readonly cluster: string;
  /** It has this namespace, for namespaced placements. */
  readonly namespace: string;
  /** Once available, it stays available. */
  readonly isSteady?: boolean;
}

export const lightMemberActor =
  (options: LightMemberOptions) =>
  (deps: Deps): Stop => {
    const controllers = [beating(options), answering(options, (sides) => deps.random.next() * sides)];
    const manager = startManager(deps, { controllers, manager: 'flotilla-member' });
    return () => manager.stop();
  };

/** Reports like a real agent of a member without nodes. */
function beating({ cluster, namespace }: LightMemberOptions): Controller<Beating> {
  const sources = hubSources(cluster);
  let last = 0;
  const place = { metadata: { name: namespace, uid: namespace }, placedBy: '', isTerminating: false };
  const periodOf = ({ internal }: Pick<Beating, 'internal'>) => internal.spec.heartbeatPeriodSeconds * 1000;
  return {
    name: 'beating',
    eventSource: 'beating',
    watches: [
      {
        source: sources.internal,
        toKeys: ({ metadata }, _see, old) =>
          metadata.name !== cluster ||
          (old !== undefined && old.metadata.generation === metadata.generation && old.metadata.uid === metadata.uid)
            ? []
            : [cluster],
      },
      { source: sources.works, toKeys: () => [] },
    ],
    observe(view, key) {
      const internal = view.get(sources.internal, key, memberNamespace(cluster));
      if (internal === undefined) return undefined;
      if (view.now >= last + periodOf({ internal })) last = view.now;
      return {
        internal,
        works: view.all(sources.works),
        beat: { at: last, stamp: kubeTime(last), health: { ok: true } },
        facts: { nodes: [], pods: [], namespaces: [place] },
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
        sources,
      };
    },
    decide(observed) {
      const decision = beat(observed);
      return observed.internal.spec.state === 'Join' ? { ...decision, wakeAt: last + periodOf(observed) } : decision;
    },
  };
}

/** The schedule of one generation of a Work. */
interface Course {
  readonly dueAt: number;
  readonly illFrom: number;
}

interface Answering {
  readonly work: Work;
  readonly course: Course;
  readonly now: number;
}

function answering(
  { cluster, isSteady = false }: LightMemberOptions,
  roll: (sides: number) => number,
): Controller<Answering> {
  const source: Source<Work> = {
    on: 'hub',
    resource: work,
    namespace: memberNamespace(cluster),
    project: (object) => object as Work,
  };
  const courses = new Map<string, Course>();
  const courseOf = ({ metadata }: Work, now: number): Course => {
    const key = `${metadata.uid}/${metadata.generation}`;
    const known = courses.get(key);
    if (known !== undefined) return known;
    const dueAt = now + Math.floor(roll(SLOWEST_MS));
    const illFrom = !isSteady && roll(4) < 1 ? dueAt + Math.floor(roll(LONGEST_WELL_MS)) : Number.POSITIVE_INFINITY;
    courses.set(key, { dueAt, illFrom });
    return { dueAt, illFrom };
  };
  return {
    name: 'answering',
    eventSource: 'answering',
    watches: [{ source, toKeys: ({ metadata }) => [metadata.name ?? ''] }],
    observe(view, key) {
      const found = view.get(source, key, memberNamespace(cluster));
      return found && { work: found, course: courseOf(found, view.now), now: view.now };
    },
    decide: (observed) => answer(source, observed),
  };
}

function answer(source: Source<Work>, { work: order, course, now }: Answering): Decision {
  const { metadata, status } = order;
  if (metadata.deletionTimestamp !== undefined) {
    const kept = metadata.finalizers ?? [];
    if (!kept.includes(finalizers.workCleanup)) return idle('it goes');
    const left = kept.filter((each) => each !== finalizers.workCleanup);
    const merge = { metadata: { finalizers: left.length === 0 ? null : left } };
    return { ...idle('it goes'), steps: [[patch(seen(source, order), merge, 'nothing is left of it')]] };
  }
  if (now < course.dueAt) return idle('it takes a while', { wakeAt: course.dueAt });
  const wellAgain = course.illFrom + ILL_MS;
  const isUp = !isBad(order) && (now < course.illFrom || now >= wellAgain);
  const next = [course.illFrom, wellAgain].find((moment) => moment > now && moment !== Number.POSITIVE_INFINITY);
  const waking = next === undefined ? {} : { wakeAt: next };
  const say = (type: WorkCondition, isSo: boolean, reason: WorkReason): Condition =>
    nextCondition(
      conditionOf(status?.conditions, type),
      { type, status: isSo ? 'True' : 'False', reason, message: '', observedGeneration: metadata.generation ?? 0 },
      now,
    );
  const conditions = [
    say('Applied', true, 'AllManifestsApplied'),
    say('Available', isUp, isUp ? 'AllManifestsAvailable' : 'SomeManifestsAreNotAvailable'),
  ];
  if (deepEqual(conditions, status?.conditions)) return { ...idle('it was said'), ...waking };
  const said = patchStatus(seen(source, order), { conditions, manifestConditions: [] }, isUp ? 'works' : 'does not');
  return { ...idle('it is to be said'), steps: [[said]], ...waking };
}

const isBad = ({ spec }: Work): boolean =>
  (spec?.workload?.manifests ?? []).some((each) => textIn(each as KubeObject).includes('bad'));

/** The text of a placed ConfigMap. */
export const textIn = (object: KubeObject): string => {
  const { data = {} } = object as KubeObject & { readonly data?: Readonly<Record<string, string>> };
  return data['text'] ?? '';
};
