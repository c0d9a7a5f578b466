// `flotilla member`: the agent of one member cluster. It connects to the hub; the hub never connects to it.
import { Registry } from 'prom-client';
import { agentBasicRules } from '../api/agent-rights.ts';
import { memberNameProblem } from '../api/member-name.ts';
import { wallClock } from '../base/clock.ts';
import { type ApiError, LostError, messageOf, UserError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import { renewAgentFile } from '../cli/join/agent-kubeconfig.ts';
import { type Connected, type ConnectOptions, connect, findConnection } from '../cli/server/connect.ts';
import type { Connection } from '../client/connection.ts';
import { createLiveCatalogue } from '../client/live-catalogue.ts';
import { followOwnServer, type OwnServerOptions } from '../member/heartbeat/own-server.ts';
import { transportProbe } from '../member/heartbeat/probe.ts';
import { diskAwareScheduling } from '../runtime/deps.ts';
import { type Agent, runAgent } from './agent.ts';
import { agentNeeds } from './agent-parts.ts';
import { counted } from './counted.ts';
import { serveHealth } from './health-server.ts';
import { createCredential, keepToken } from './keep-token.ts';
import { loadProvider } from './load-provider.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { checkKinds } from './needed-kinds.ts';
import { checkRights } from './rights.ts';
import { firstSignal } from './signals.ts';
import { tellThrottling } from './throttling.ts';

export interface MemberCommandOptions {
  readonly name: string;
  readonly hubKubeconfig: string;
  readonly hubContext?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly healthPort?: number;
  readonly propertyProvider?: string;
  readonly logLevel: LogLevel;
}

export async function member(options: MemberCommandOptions): Promise<void> {
  const problem = memberNameProblem(options.name);
  if (problem !== undefined) throw new UserError('BadName', problem);
  const stopped = firstSignal();
  const log = jsonLog(options.logLevel, { part: 'member', cluster: options.name });
  const metrics = new Registry();
  const throttled = (server: 'hub' | 'member') => tellThrottling({ server, clock: wallClock, log, metrics });
  const provider = await loadProvider(options.propertyProvider, log);
  const credential = createCredential();
  using hub = await reach(
    'the hub',
    throttled('hub'),
    {
      kubeconfig: options.hubKubeconfig,
      ...(options.hubContext === undefined ? {} : { context: options.hubContext }),
    },
    credential.refine,
  );
  const renewing = keepToken({
    hub: hub.transport,
    credential,
    keep: (token) => renewAgentFile(options.hubKubeconfig, options.name, token),
    clock: wallClock,
    random: systemRandom,
    log,
  });
  using own = await reach(`the member "${options.name}"`, throttled('member'), kubeconfigOf(options));
  const server = await followOwnServer(ownServer(own, findConnection(kubeconfigOf(options))));
  const catalogue = createLiveCatalogue(own.transport);
  const probe = transportProbe(own.transport);
  const parts = { clock: wallClock, random: systemRandom, catalogues: { member: catalogue } };
  checkKinds(own.catalogue, agentNeeds(parts, { cluster: options.name, probe }), {
    where: `the member "${options.name}"`,
    remedy: 'there, "flotilla crds member | kubectl apply -f -" installs them',
  });
  await checkRights(own.transport, {
    whom: `the agent, on the member "${options.name}",`,
    needed: [{ rules: agentBasicRules }],
    remedy: 'there, "flotilla roles member | kubectl apply -f -" gives these rights to the account flotilla-member',
  });
  const servers = {
    hub: counted(hub.transport, 'hub', metrics),
    member: counted(own.transport, 'member', metrics),
  };
  await catalogue.refresh();
  let agent: Agent | undefined;
  await using _health =
    options.healthPort === undefined
      ? undefined
      : await serveHealth({
          port: options.healthPort,
          metrics,
          manager: () => agent?.manager(),
          without: { name: 'hub', detail: 'waiting for the hub to admit this member', isReady: false },
        });
  agent = runAgent(
    {
      ...parts,
      log,
      servers,
      ...diskAwareScheduling(),
    },
    { cluster: options.name, probe, server, metrics, isRemote: true, ...(provider === undefined ? {} : { provider }) },
  );
  console.log(`flotilla: the agent of member "${options.name}" is running; Ctrl-C stops it`);
  await stopped;
  renewing.stop();
  await agent.stop();
}

const kubeconfigOf = ({ kubeconfig, context }: MemberCommandOptions): ConnectOptions => ({
  ...(kubeconfig === undefined ? {} : { kubeconfig }),
  ...(context === undefined ? {} : { context }),
});

/**
 * Inside a Pod this is the address of a Service, which is reachable only in the cluster: a property provider may report
 * a better one.
 */
function ownServer({ transport }: Connected, { server, ca }: Connection): OwnServerOptions {
  const isInside = new URL(server).hostname === process.env['KUBERNETES_SERVICE_HOST'];
  return {
    clock: wallClock,
    ...(isInside ? {} : { entrypoint: server }),
    ...(ca === undefined ? {} : { certificates: ca }),
    async readVersion(signal) {
      const { gitVersion } = (await transport.read('/version', undefined, signal)) as { readonly gitVersion?: string };
      return gitVersion;
    },
  };
}

/** The agent connects to two servers, so the error names the one that does not answer. */
async function reach(
  whom: string,
  onThrottled: (refusal: ApiError) => void,
  options: ConnectOptions,
  refine?: (found: Connection) => Connection,
): Promise<Connected> {
  try {
    return await connect(options, { onThrottled, ...(refine === undefined ? {} : { refine }) });
  } catch (cause) {
    if (!(cause instanceof LostError)) throw cause;
    throw new UserError('Unreachable', `cannot reach ${whom}: ${messageOf(cause)}`, { cause });
  }
}
