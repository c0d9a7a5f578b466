// `flotilla hub`: the hub's controllers against any Kubernetes API server. Several replicas may run; one leads.
import { Registry } from 'prom-client';
import { SYSTEM_NAMESPACE } from '../api/names.ts';
import { hubBasicRules, hubSystemRules, networkingRules } from '../api/rights.ts';
import { wallClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { type ConnectOptions, connect } from '../cli/server/connect.ts';
import { createIfAbsent } from '../cli/server/create-if-absent.ts';
import { createLiveCatalogue } from '../client/live-catalogue.ts';
import { diskAwareScheduling } from '../runtime/deps.ts';
import { counted } from './counted.ts';
import { evictionsSince } from './evictions-since.ts';
import { type GitFlags, gitOf } from './git-flags.ts';
import { serveHealth } from './health-server.ts';
import { type Leading, runWhileLeading } from './leading.ts';
import { jsonLog, type LogLevel } from './log.ts';
import { type MembershipFlags, membershipOf } from './membership-flags.ts';
import { checkKinds } from './needed-kinds.ts';
import { hubNeeds, startHub } from './parts.ts';
import { type PlacementFlags, placementsOf } from './placement-flags.ts';
import { checkRights } from './rights.ts';
import { type RunFlags, runsOf } from './run-flags.ts';
import { firstSignal } from './signals.ts';
import { tellThrottling } from './throttling.ts';

export interface HubCommandOptions extends ConnectOptions, MembershipFlags, PlacementFlags, RunFlags, GitFlags {
  readonly healthPort?: number;
  readonly logLevel: LogLevel;
}

const LEASE = '136224848560.hub.fleet.azure.com';
const STANDING_BY = { name: 'leader', detail: 'another replica leads', isReady: true };

export async function hub(options: HubCommandOptions): Promise<void> {
  const placements = placementsOf(options);
  const stopped = firstSignal();
  const log = jsonLog(options.logLevel, { part: 'hub' });
  const metrics = new Registry();
  using server = await connect(options, {
    onThrottled: tellThrottling({ server: 'hub', clock: wallClock, log, metrics }),
  });
  const { transport } = server;
  await using git = await gitOf(options);
  const catalogue = createLiveCatalogue(transport);
  checkKinds(server.catalogue, hubNeeds(catalogue), {
    where: 'the hub',
    remedy: 'there, "flotilla crds hub | kubectl apply -f -" installs them',
  });
  await checkRights(transport, {
    whom: "the hub's controllers",
    needed: [
      { rules: hubBasicRules },
      { rules: options.networkingAgentsEnabled ? networkingRules : [] },
      { rules: hubSystemRules, namespace: SYSTEM_NAMESPACE },
    ],
    remedy: `on the hub, "flotilla roles hub | kubectl apply -f -" gives these rights to the account flotilla-hub${options.networkingAgentsEnabled ? ', and "flotilla roles hub-networking" those for networking agents' : ''}`,
  });
  await createIfAbsent(server, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM_NAMESPACE } });
  await catalogue.refresh();
  let leading: Leading | undefined;
  let since: number | undefined;
  await using _health =
    options.healthPort === undefined
      ? undefined
      : await serveHealth({
          port: options.healthPort,
          metrics,
          manager: () => leading?.manager(),
          without: STANDING_BY,
        });
  leading = runWhileLeading({
    transport,
    log,
    namespace: SYSTEM_NAMESPACE,
    lease: LEASE,
    // A standby may not know kinds that were installed meanwhile. They would look absent, and their placed objects
    // would be removed.
    async prepare() {
      await catalogue.refresh();
      since = await evictionsSince(transport, wallClock);
    },
    start: (mayWrite) =>
      startHub(
        {
          clock: wallClock,
          random: systemRandom,
          servers: { hub: counted(transport, 'hub', metrics) },
          catalogues: { hub: catalogue },
          ...diskAwareScheduling(),
          log,
        },
        {
          ...membershipOf(options),
          placements,
          runs: runsOf(options),
          ...(since === undefined ? {} : { evictionsSince: since }),
          mayWrite,
          git,
          metrics,
          isRemote: true,
        },
      ),
  });
  console.log('flotilla: hub controllers are running; Ctrl-C stops them');
  await stopped;
  await leading.stop();
}
