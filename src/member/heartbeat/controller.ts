// The heartbeat controller's watches and its view. Only the health of the member's API server has no watch: the pulse
// probes it periodically, and each answer wakes the controller. Of the watches only the one on namespaces does; all
// other changes wait for the next beat.
import { isPurging } from '../../api/internal-member-cluster.ts';
import { memberNamespace } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Controller, Projected, Source, View } from '../../runtime/controller.ts';
import type { Collector } from '../properties/collector.ts';
import { busyPods, type HubSources, hubSources, memberNamespaces, nodes } from '../sources.ts';
import { changedSince } from './changes.ts';
import { decide, type Observed } from './decide.ts';
import { type Facts, hasOtherNamespaces } from './facts.ts';
import type { OwnServer } from './own-server.ts';
import { createPulse, type Probe, type Pulse } from './pulse.ts';

export interface HeartbeatOptions {
  /** The name of this agent's MemberCluster. */
  readonly cluster: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe;
  /** Whether the agent reports the member's namespaces. */
  readonly reportNamespaces?: boolean;
  /** Version and address of the member's API server; called on every reconcile, returns immediately. */
  readonly server?: () => OwnServer;
  /** Started with the controller. */
  readonly collector?: (signal: AbortSignal) => Collector;
  /** Shared with the other controllers of the agent. */
  readonly sources?: HubSources;
}

interface Memory {
  /**
   * The uid of the InternalMemberCluster that had a beat of this process: before that, its stamp may be one of an
   * earlier process.
   */
  answeredIn: string | undefined;
  /** The newest of our stamps seen there. */
  told: string | undefined;
  changedSince: number | undefined;
}

export function heartbeat(options: HeartbeatOptions): Controller<Observed, Memory> {
  const { cluster, clock, random, probe, reportNamespaces = true, sources = hubSources(options.cluster) } = options;
  let pulse: Pulse | undefined;

  const facts = (view: View): Facts => ({
    ...(isListed(view, nodes) ? { nodes: view.all(nodes) } : {}),
    ...(isListed(view, busyPods) ? { pods: view.all(busyPods) } : {}),
    ...(reportNamespaces
      ? isListed(view, memberNamespaces)
        ? { namespaces: view.all(memberNamespaces) }
        : {}
      : { namespaces: null }),
  });

  return {
    name: 'heartbeat',
    eventSource: 'v1beta1InternalMemberClusterController',
    watches: [
      {
        source: sources.internal,
        // Every status write would wake us, including our own, so only a new generation does. Another agent's report is
        // noticed with the next beat.
        toKeys: ({ metadata }, _see, old) =>
          metadata.name !== cluster ||
          (old !== undefined && old.metadata.generation === metadata.generation && old.metadata.uid === metadata.uid)
            ? []
            : [cluster],
      },
      {
        source: sources.works,
        // A member that purges has left when its last Work is released.
        toKeys: (_work, view) => {
          const internal = view.get(sources.internal, cluster, memberNamespace(cluster));
          return internal !== undefined && isPurging(internal) ? [cluster] : [];
        },
      },
      // Optional: a member whose API server is down cannot be listed, and the heartbeat must still report that.
      { source: nodes, toKeys: () => [], optional: true },
      { source: busyPods, toKeys: () => [], optional: true },
      ...(reportNamespaces ? [{ source: memberNamespaces, toKeys: () => [cluster], optional: true as const }] : []),
    ],

    begin(wake, signal) {
      const collector = options.collector?.(signal);
      pulse = createPulse({
        ...{ clock, random, probe, signal },
        ...(collector === undefined ? {} : { collector }),
        onBeat: () => wake(cluster),
      });
    },

    memory: () => ({ answeredIn: undefined, told: undefined, changedSince: undefined }),

    observe(view, key, memory) {
      const internal = view.get(sources.internal, key, memberNamespace(cluster));
      if (internal === undefined || key !== cluster) {
        pulse?.rest();
        return undefined;
      }
      if (internal.spec.state === 'Join') pulse?.every(internal.spec.heartbeatPeriodSeconds);
      else pulse?.rest();

      const stamp = internal.status?.agentStatus?.find((each) => each.type === 'MemberAgent')?.lastReceivedHeartbeat;
      const isOwn = stamp !== undefined && pulse?.isOwn(stamp) === true;
      if (isOwn) memory.answeredIn = internal.metadata.uid;
      if (isOwn && stamp === pulse?.beat?.stamp) memory.told = stamp;
      const known = facts(view);
      memory.changedSince = changedSince(memory.changedSince, view.now, () =>
        hasOtherNamespaces(known, internal.status),
      );
      const rival = !isOwn && memory.answeredIn === internal.metadata.uid ? stamp : undefined;
      return {
        internal,
        works: view.all(sources.works),
        ...(pulse?.beat === undefined ? {} : { beat: pulse.beat, isTold: pulse.beat.stamp === memory.told }),
        ...(rival === undefined ? {} : { rival }),
        facts: known,
        ...(options.server === undefined ? {} : { server: options.server() }),
        ...(memory.changedSince === undefined ? {} : { changedSince: memory.changedSince }),
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
        sources,
      };
    },

    decide,
  };
}

const isListed = <T extends Projected>(view: View, source: Source<T>): boolean => view.isListed?.(source) ?? true;
