// `flotilla pretend`: simulated nodes for any Kubernetes API server. Its own controllers create the Pods; this command
// schedules them and makes them run, fail or hang, by rules.
import { wallClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { type ConnectOptions, connect } from '../cli/server/connect.ts';
import { profileOf } from '../sim/pretend/profile.ts';
import { someNodes } from '../sim/pretend/rules/node.ts';
import { startPretend } from '../sim/pretend/start.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { firstSignal } from './signals.ts';

export interface PretendCommandOptions extends ConnectOptions {
  readonly nodes: number;
  /** The prefix of the node names. */
  readonly name: string;
  readonly readySeconds?: number;
  readonly pullSeconds?: number;
  readonly logLevel: LogLevel;
}

export async function pretend(options: PretendCommandOptions): Promise<void> {
  const stopped = firstSignal();
  using server = await connect(options);
  const { nodes, name, readySeconds, pullSeconds } = options;
  const running = startPretend(
    {
      transport: server.transport,
      clock: wallClock,
      random: systemRandom,
      log: jsonLog(options.logLevel, { part: 'pretend' }),
    },
    {
      sets: ['node'],
      nodes: someNodes(name, nodes),
      profile: profileOf({
        ...(readySeconds === undefined ? {} : { readyMs: readySeconds * 1000 }),
        ...(pullSeconds === undefined ? {} : { pullMs: pullSeconds * 1000 }),
      }),
    },
  );
  await Promise.race([running.synced, stopped]);
  console.log(`flotilla: ${nodes} pretend nodes are running; Ctrl-C stops them; their Nodes remain`);
  await stopped;
  await running.stop();
}
