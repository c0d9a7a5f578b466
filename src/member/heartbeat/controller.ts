// What the heartbeat watches and how it sees. The probe of the member's API server is the one fact that no watch brings: the pulse asks on the
// period, and each answer wakes the controller. Of what the watches bring only the namespaces do: the rest waits for the beat.
import { isPurging } from '../../api/internal-member-cluster.ts';
import { memberNamespace } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Controller, Projected, Source, View } from '../../runtime/controller.ts';
import type { Collector } from '../properties/collector.ts';
import { busyPods, type HubSources, hubSources, memberNamespaces, nodes } from '../sources.ts';
import { decide, type Observed } from './decide.ts';
import { type Facts, hasOtherNamespaces } from './facts.ts';
import { newsSince } from './news.ts';
import type { OwnServer } from './own-server.ts';
import { createPulse, type Probe, type Pulse } from './pulse.ts';

export interface HeartbeatOptions {
  /** The MemberCluster that this agent is the agent of. */
  readonly cluster: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe;
  /** Whether the hub learns which namespaces the member has. */
  readonly reportNamespaces?: boolean;
  /** What is known of the member's API server; asked for on every look, answers at once. */
  readonly server?: () => OwnServer;
  /** Started with the controller. */
  readonly collector?: (signal: AbortSignal) => Collector;
  /** Shared with the other controllers of the agent. */
  readonly sources?: HubSources;
}

interface Memory {
  /** The InternalMemberCluster in which a beat of ours was seen: before that, any stamp may be one of a former life of this agent. */
  answeredIn: string | undefined;
  /** The newest of our stamps that was seen there. */
  told: string | undefined;
  newsSince: number | undefined;
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
        // Every write of a status would wake us, our own among them: only orders count. A rival is noticed with the next beat.
        toKeys: ({ metadata }, _see, old) =>
          metadata.name !== cluster ||
          (old !== undefined && old.metadata.generation === metadata.generation && old.metadata.uid === metadata.uid)
            ? []
            : [cluster],
      },
      {
        source: sources.works,
        // A member that purges leaves when its last Work is released.
        toKeys: (_work, view) => {
          const internal = view.get(sources.internal, cluster, memberNamespace(cluster));
          return internal !== undefined && isPurging(internal) ? [cluster] : [];
        },
      },
      // A member that is down cannot be listed, and that has to be reported.
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

    memory: () => ({ answeredIn: undefined, told: undefined, newsSince: undefined }),

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
      memory.newsSince = newsSince(memory.newsSince, view.now, () => hasOtherNamespaces(known, internal.status));
      const rival = !isOwn && memory.answeredIn === internal.metadata.uid ? stamp : undefined;
      return {
        internal,
        works: view.all(sources.works),
        ...(pulse?.beat === undefined ? {} : { beat: pulse.beat, isTold: pulse.beat.stamp === memory.told }),
        ...(rival === undefined ? {} : { rival }),
        facts: known,
        ...(options.server === undefined ? {} : { server: options.server() }),
        ...(memory.newsSince === undefined ? {} : { newsSince: memory.newsSince }),
        ...(view.failure === undefined ? {} : { failure: view.failure }),
        now: view.now,
        sources,
      };
    },

    decide,
  };
}

const isListed = <T extends Projected>(view: View, source: Source<T>): boolean => view.isListed?.(source) ?? true;
