// `flotilla member`: the agent of one member cluster. It dials the hub; the hub never dials it.
import { Registry } from 'prom-client';
import { wallClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { connect } from '../cli/connect.ts';
import { transportProbe } from '../member/heartbeat/probe.ts';
import { liveness, readiness } from '../runtime/health.ts';
import { serveHealth } from './health-server.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { startAgent } from './parts.ts';
import { firstSignal } from './signals.ts';

export interface MemberCommandOptions {
  readonly name: string;
  readonly hubKubeconfig: string;
  readonly hubContext?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly healthPort?: number;
  readonly logLevel: LogLevel;
}

export async function member(options: MemberCommandOptions): Promise<void> {
  const stopped = firstSignal();
  const log = jsonLog(options.logLevel, { part: 'member', cluster: options.name });
  using hub = await connect({
    kubeconfig: options.hubKubeconfig,
    ...(options.hubContext === undefined ? {} : { context: options.hubContext }),
  });
  using own = await connect({
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
    ...(options.context === undefined ? {} : { context: options.context }),
  });
  const agent = startAgent(
    { clock: wallClock, random: systemRandom, log, servers: { hub: hub.transport, member: own.transport } },
    { cluster: options.name, probe: transportProbe(own.transport) },
  );
  await using _health =
    options.healthPort === undefined
      ? undefined
      : await serveHealth({
          port: options.healthPort,
          metrics: new Registry(),
          live: () => liveness(agent.state(), wallClock.now()),
          ready: () => readiness(agent.state()),
        });
  console.log(`flotilla: the agent of member "${options.name}" is running; Ctrl-C stops it`);
  await stopped;
  await agent.stop();
}
