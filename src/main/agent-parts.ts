// Builds the agent of a member from its controllers: the same for one process, several, and a simulated world.
import type { Registry } from 'prom-client';
import type { Resource } from '../api/kind.ts';
import { applierWorker } from '../member/apply/worker.ts';
import { heartbeat } from '../member/heartbeat/controller.ts';
import type { OwnServer } from '../member/heartbeat/own-server.ts';
import type { Probe } from '../member/heartbeat/pulse.ts';
import { createCollector } from '../member/properties/collector.ts';
import type { PropertyProvider } from '../member/properties/provider.ts';
import { hubSources } from '../member/sources.ts';
import type { Deps } from '../runtime/deps.ts';
import { keepKinds } from '../runtime/kinds.ts';
import { type Manager, type ManagerOptions, startManager } from '../runtime/manager.ts';
import { neededBy } from './needed-kinds.ts';

export interface PartOptions {
  mayWrite?(): boolean;
  readonly metrics?: Registry;
  /** The connection is over the wire, so the catalogue learns about new kinds only by reading discovery again. */
  readonly isRemote?: boolean;
}

export interface AgentOptions extends PartOptions {
  readonly cluster: string;
  readonly probe: Probe;
  /** Facts about the member's API server. */
  readonly server?: () => OwnServer;
  /** Reports properties of the member that the agent does not collect itself. */
  readonly provider?: PropertyProvider;
}

/** Without a catalogue of the member's kinds, it only sends heartbeats. */
export function startAgent(deps: Deps, options: AgentOptions): Manager {
  const { cluster, probe, server, provider, mayWrite, metrics, isRemote } = options;
  return startManager(deps, {
    controllers: agentControllers(deps, {
      ...{ cluster, probe },
      ...(isRemote ? { isRemote } : {}),
      ...(server === undefined ? {} : { server }),
      ...(provider === undefined ? {} : { provider }),
    }),
    manager: 'flotilla-member',
    ...(mayWrite ? { mayWrite } : {}),
    ...(metrics ? { metrics } : {}),
  });
}

function agentControllers(
  {
    clock,
    random,
    catalogues,
    servers,
  }: Pick<Deps, 'clock' | 'random' | 'catalogues'> & Partial<Pick<Deps, 'servers'>>,
  {
    cluster,
    probe,
    server,
    isRemote,
    provider,
  }: Pick<AgentOptions, 'cluster' | 'probe' | 'server' | 'isRemote' | 'provider'>,
): ManagerOptions['controllers'] {
  const catalogue = catalogues?.member;
  const sources = hubSources(cluster);
  const member = servers?.member;
  const collector =
    provider === undefined || member === undefined
      ? {}
      : {
          collector: (signal: AbortSignal) =>
            createCollector({ provider, cluster, member, clock, random: random.fork('properties'), signal }),
        };
  return [
    heartbeat({
      cluster,
      probe,
      clock,
      random: random.fork('heartbeat'),
      sources,
      ...(server === undefined ? {} : { server }),
      ...collector,
    }),
    ...(catalogue === undefined
      ? []
      : [applierWorker({ cluster, catalogue, random: random.fork('applier'), sources })]),
    ...(catalogue !== undefined && isRemote ? [keepKinds('member', catalogue)] : []),
  ];
}

/**
 * The kinds without which an agent cannot start on its member. The hub's kinds may be installed later: an agent waits
 * until the hub admits it.
 */
export const agentNeeds = (
  deps: Pick<Deps, 'clock' | 'random' | 'catalogues'>,
  options: Pick<AgentOptions, 'cluster' | 'probe'>,
): readonly Resource[] => neededBy(agentControllers(deps, { ...options, isRemote: true }), 'member');
