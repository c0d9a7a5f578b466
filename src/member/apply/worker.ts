// The work applier: applies the Works of this member and reports their outcome. Start reading with pass.ts.
//
// A Work is woken by changes of the Work, its AppliedWork, every object that it names (by watches on the member), newly
// served kinds, and the state of the InternalMemberCluster. As a safety net, every Work is also rechecked every quarter
// of an hour.

import type { AppliedWork } from '../../api/applied-work.ts';
import type { LiveCatalogue } from '../../api/catalogue.ts';
import type { InternalMemberCluster } from '../../api/internal-member-cluster.ts';
import { isPurging } from '../../api/internal-member-cluster.ts';
import { labels, memberNamespace } from '../../api/names.ts';
import type { OwnerReference } from '../../api/object.ts';
import { type Work, work } from '../../api/work.ts';
import type { Random } from '../../base/random.ts';
import { backOffMs } from '../../runtime/back-off.ts';
import {
  type FullRef,
  isNeed,
  type Need,
  type Projected,
  type Source,
  type View,
  type WatchRule,
  type Worker,
  type WorkerClient,
  type WorkResult,
} from '../../runtime/controller.ts';
import type { TroubledPod } from '../availability/trouble.ts';
import { isWaitedFor } from '../availability/verdict.ts';
import {
  type AgentWork,
  appliedWorks,
  busyPods,
  type HubSources,
  hubSources,
  type MemberPod,
  unscheduledPods,
} from '../sources.ts';
import { endWork } from './deletion.ts';
import { leftOvers } from './left-overs.ts';
import { inSpec, ordersOf, placed, resourceOf } from './manifest.ts';
import { collections, memberViewOf } from './member-view.ts';
import type { Memory } from './memory.ts';
import { type PassEnd, pass } from './pass.ts';
import { areSiblings, type Siblings, siblingsOf } from './siblings.ts';

export interface ApplierOptions {
  /** The name of this agent's MemberCluster. */
  readonly cluster: string;
  /** Which kinds the member serves. */
  readonly catalogue: LiveCatalogue;
  readonly random: Random;
  /** Shared with the other controllers of the agent. */
  readonly sources?: HubSources;
  /** A deletion of placed objects that takes longer counts as stuck. */
  readonly deletionWaitMs?: number;
  /** The interval of full rechecks. */
  readonly recheckMs?: number;
}

/** Per Work. */
interface Kept {
  readonly uid: string;
  readonly memory: Memory;
  recheckAt: number;
  /** The generation for which discovery was refreshed. */
  askedAt: number;
  /** Consecutive polls of objects that cannot be watched. */
  polls: number;
}

interface WorkMemory {
  kept: Kept | undefined;
  /** The member does not serve the kinds of some of its objects. */
  lacksKinds: boolean;
  /** It waits until another Work of its binding has taken objects over. */
  isHanding: boolean;
}

const POLLS = { firstMs: 5_000, maxMs: 900_000 };

export function applierWorker(options: ApplierOptions): Worker<WorkMemory> {
  const { cluster, catalogue, random, sources = hubSources(options.cluster) } = options;
  const { deletionWaitMs = 300_000, recheckMs = 900_000 } = options;
  const namespace = memberNamespace(cluster);
  const collectionOf = collections();
  let wakeUp: (key: string) => void = () => {};
  let wakeHanding = () => {};

  const nextRecheck = (now: number) => now + Math.ceil(recheckMs * (0.9 + random.next() / 5));

  function keptFor(memory: WorkMemory, uid: string, now: number): Kept {
    if (memory.kept?.uid === uid) return memory.kept;
    memory.kept = { uid, memory: new Map(), recheckAt: nextRecheck(now), askedAt: -1, polls: 0 };
    return memory.kept;
  }

  /** Orphaned: the Work no longer exists on the hub, or the reference has the uid of a former AppliedWork. */
  const orphaned = (view: View, key: string) => (reference: OwnerReference) => {
    if (reference.name === key) return true;
    const record = view.get(appliedWorks, reference.name);
    if (record === undefined || record.metadata.uid !== reference.uid) return true;
    // It belongs to another hub, whose Works are not visible.
    if (record.spec.workNamespace !== namespace) return false;
    return view.get(sources.works, reference.name, namespace) === undefined;
  };

  /** From the labels of the Work that the AppliedWork records. */
  const placementBehind = (view: View) => (reference: OwnerReference) => {
    const isOfThisHub = view.get(appliedWorks, reference.name)?.spec.workNamespace === namespace;
    const known = isOfThisHub ? view.get(sources.works, reference.name, namespace)?.metadata.labels : undefined;
    const name = known?.[labels.parentPlacement];
    const within = known?.[labels.parentPlacementNamespace];
    if (name === undefined) return undefined;
    return within === undefined ? `ClusterResourcePlacement "${name}"` : `ResourcePlacement "${within}/${name}"`;
  };

  /** Siblings whose identities are not cached are read: otherwise an object that one of them names would be deleted. */
  function siblingsIn(view: View, key: string): { readonly siblings?: Siblings } | Need {
    const own = view.get(sources.works, key, namespace);
    if (own === undefined) return {};
    const need: FullRef[] = [];
    const all = view.all(sources.works).flatMap((each) => {
      if (each.identities !== undefined || !areSiblings(own, each)) return [each];
      const ref: FullRef = { ...wholeRef(each.metadata.name ?? ''), specOnly: true };
      const whole = view.getFull(ref);
      if (whole === undefined) need.push(ref);
      return whole == null ? [] : [sources.works.project?.(whole) ?? each];
    });
    return need.length > 0 ? { need } : { siblings: siblingsOf(own, all) };
  }

  /**
   * The watch may deliver the deletion or change of this Work before older changes of its siblings, so the siblings are
   * read live.
   */
  function siblingsBefore(view: View, { metadata }: AgentWork): { readonly siblings?: Siblings } | Need {
    const name = metadata.name ?? '';
    const binding = metadata.labels?.[labels.parentBinding];
    const isBegun = view.get(appliedWorks, name)?.metadata.deletionTimestamp !== undefined;
    if (binding !== undefined && !isBegun) {
      const part = { labels: `${labels.parentBinding}=${binding}` };
      if (view.isRefreshed?.(sources.works, part) === false)
        return { need: [], ask: [{ source: sources.works, part }] };
    }
    return siblingsIn(view, name);
  }

  const wholeRef = (name: string): FullRef => ({
    on: 'hub',
    resource: work,
    group: work.group,
    kind: work.kind,
    namespace,
    name,
  });

  async function apply(view: View, client: WorkerClient, whole: Work, memory: WorkMemory): Promise<WorkResult | Need> {
    const { name: key = '' } = whole.metadata;
    const kept = keptFor(memory, whole.metadata.uid ?? '', view.now);
    const onMember = memberViewOf(view, collectionOf);
    for (const { identifier, manifest } of ordersOf(whole.spec.workload?.manifests ?? [])) {
      const resource = resourceOf(catalogue, identifier);
      if (resource === undefined || manifest === undefined) continue;
      if (resource.namespaced && identifier.namespace === undefined) continue;
      onMember.known(resource, placed(identifier, resource));
      if (resource.namespaced) onMember.context(identifier.namespace);
    }
    if (onMember.missing.length > 0) return { need: [], watch: onMember.missing };
    const record = view.get(appliedWorks, key);
    const own = view.get(sources.works, key, namespace);
    const left = leftOvers(inSpec(ordersOf(whole.spec.workload?.manifests ?? [])), whole.status, record?.status);
    const beside = own === undefined || left.length === 0 ? siblingsIn(view, key) : siblingsBefore(view, own);
    if (isNeed(beside)) return beside;

    const isRecheck = view.now >= kept.recheckAt;
    const generation = whole.metadata.generation ?? 0;
    const end = await pass({
      client,
      onMember,
      catalogue,
      random,
      memory: kept.memory,
      work: whole,
      record,
      isOrphaned: orphaned(view, key),
      placementOf: placementBehind(view),
      ...beside,
      troubledPods: (where) => [...troubleIn(view, busyPods, where), ...troubleIn(view, unscheduledPods, where)],
      now: view.now,
      isRecheck,
      asksForKinds: isRecheck || kept.askedAt !== generation,
    });
    kept.askedAt = generation;
    if (isRecheck) kept.recheckAt = nextRecheck(view.now);
    memory.lacksKinds = end.lacksKinds === true;
    if (end.isOutrun) wakeUp(key);
    memory.isHanding = end.isHandingOver === true;
    if (!end.isHandingOver) wakeHanding();
    // The kind was served only after the reconcile had started, so watch it from now on.
    if (onMember.missing.length > 0) return { need: [], watch: onMember.missing };
    return { holds: [], wakeAt: wakeAt(kept, end, onMember.blind, view.now), because: told(end) };
  }

  function wakeAt(kept: Kept, end: PassEnd, isBlind: boolean, now: number): number {
    const moments = [kept.recheckAt];
    for (const { notBefore } of kept.memory.values()) if (notBefore !== undefined) moments.push(notBefore);
    kept.polls = isBlind ? kept.polls + 1 : 0;
    if (isBlind) moments.push(now + backOffMs(POLLS, kept.polls, random));
    if (end.refusal !== undefined) moments.push(now + POLLS.firstMs * 6);
    return Math.min(...moments.filter((moment) => moment > now));
  }

  return {
    name: 'work-applier',
    eventSource: 'work-applier',
    watches: [
      rule<AgentWork>({ source: sources.works, toKeys: ({ metadata }) => [metadata.name ?? ''] }),
      rule<InternalMemberCluster>({
        source: sources.internal,
        // Every heartbeat changes its status; only changes of spec.state matter.
        toKeys: ({ metadata, spec }, view, old) =>
          old !== undefined && old.metadata.uid === metadata.uid && old.spec.state === spec.state
            ? []
            : view.all(sources.works).map((each) => each.metadata.name ?? ''),
      }),
      rule<AppliedWork>({ source: appliedWorks, toKeys: ({ metadata }) => [metadata.name ?? ''] }),
      // Optional: without Pods the agent only does not report why a workload does not start.
      rule<MemberPod>({ source: busyPods, toKeys: troubledWorks, optional: true }),
      rule<Troubled>({ source: unscheduledPods, toKeys: troubledWorks, optional: true }),
    ],

    memory: () => ({ kept: undefined, lacksKinds: false, isHanding: false }),
    forget: () => wakeHanding(),

    begin(wake, signal, memories) {
      wakeUp = wake;
      wakeHanding = () => {
        for (const [key, { isHanding }] of memories) if (isHanding) wake(key);
      };
      const stop = catalogue.subscribe(() => {
        for (const [key, { lacksKinds }] of memories) if (lacksKinds) wake(key);
      });
      signal.addEventListener('abort', stop, { once: true });
    },

    async work(view, key, client, memory) {
      const item = view.get(sources.works, key, namespace);
      if (item === undefined) return undefined;
      const internal = view.get(sources.internal, cluster, namespace);
      const isPurged = internal !== undefined && isPurging(internal);
      // The heartbeat removes the finalizers of the Works; placed objects stay, with their AppliedWorks.
      if (internal?.spec.state !== 'Join' && !isPurged)
        return { holds: [], because: 'the member should not be part of the fleet' };
      if (item.metadata.deletionTimestamp !== undefined || isPurged) {
        // No Work takes objects over while all of them are being deleted.
        const beside = isPurged ? {} : siblingsBefore(view, item);
        if (isNeed(beside)) return beside;
        Object.assign(memory, { kept: undefined, lacksKinds: false, isHanding: true } satisfies WorkMemory);
        return endWork(client, {
          ...beside,
          item,
          record: view.get(appliedWorks, key),
          whole: async () =>
            (await client.call('hub', { verb: 'get', at: { resource: work, namespace, name: key } })).object as
              | Work
              | undefined,
          catalogue,
          patienceMs: deletionWaitMs,
          now: view.now,
        });
      }
      const ref = wholeRef(key);
      const whole = view.getFull(ref);
      if (whole === undefined) return { need: [ref] };
      return whole === null ? undefined : apply(view, client, whole as Work, memory);
    },
  };
}

type Troubled = Pick<MemberPod, 'metadata' | 'trouble'>;

const troubleIn = <T extends Troubled>(view: View, source: Source<T>, namespace: string): readonly TroubledPod[] =>
  view.isListed?.(source) === false ? [] : view.all(source, namespace).flatMap(({ trouble }) => trouble ?? []);

/** A Pod that cannot start does not change its workload, so its events must wake the Work. */
function troubledWorks({ metadata, trouble }: Troubled, view: View, old: Troubled | undefined): readonly string[] {
  if (trouble === undefined || old?.trouble?.code === trouble.code) return [];
  return view
    .all(appliedWorks)
    .filter(({ status }) => (status?.appliedResources ?? []).some((each) => each.namespace === metadata.namespace))
    .map((each) => each.metadata.name ?? '');
}

const rule = <T extends Projected>(each: WatchRule<T>): WatchRule<T> => each;

const told = ({ outcomes, refusal }: PassEnd): string => {
  if (refusal !== undefined) return refusal;
  const failed = outcomes.filter((outcome) => outcome.refusal !== undefined).length;
  const waiting = outcomes.filter(({ verdict }) => isWaitedFor(verdict)).length;
  return `${outcomes.length} manifests: ${failed} not applied, ${waiting} not available yet`;
};
