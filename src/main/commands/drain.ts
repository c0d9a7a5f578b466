// `flotilla drain` and `flotilla uncordon`; `kubectl fleet draincluster` and `uncordoncluster` as in KubeFleet's
// plugin.
import type { Command } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { uncordon } from '../../cli/members/cordon.ts';
import { drain, tellLeft } from '../../cli/members/drain.ts';
import { type ConnectOptions, connect } from '../../cli/server/connect.ts';
import { duration, hubCommand, print, toHub } from './flags.ts';

const FIVE_MINUTES = 5 * 60_000;
/** As in KubeFleet: a second round evicts placements that arrived during the first. */
const PLUGIN_ROUNDS = 2;

const ours = { suffix: () => systemRandom.uuid().slice(0, 8), clock: wallClock };

const tellUncordoned = (cluster: string, isChanged: boolean): void =>
  print.line(`membercluster/${cluster} ${isChanged ? 'uncordoned' : 'is not cordoned'}`);

export function addDrain(root: Command): void {
  hubCommand(root.command('drain'))
    .description('Empty a cluster for maintenance: taint it, and evict every ClusterResourcePlacement from it')
    .argument('<cluster>', 'name of the MemberCluster')
    .option('--timeout <duration>', 'give up after this time (default: 5m)', duration)
    .addHelpText(
      'after',
      `
Disruption budgets are respected: blocked evictions are retried until --timeout. PickFixed and namespaced placements are listed with what to do.

Exit codes:
  0  nothing is left on the cluster
  1  unknown: no such cluster, API server unreachable, or access denied
  2  something is left

Examples:
  flotilla drain member-1
  flotilla drain member-1 --timeout 30m`,
    )
    .action(async (cluster: string, options: ConnectOptions & { readonly timeout?: number }) => {
      const { timeout: timeoutMs = FIVE_MINUTES, ...connection } = options;
      using server = await connect(toHub(connection));
      process.exitCode = tellLeft(cluster, await drain(server, { cluster, timeoutMs, ...ours }, print), print);
    });
  hubCommand(root.command('uncordon'))
    .description('Allow placements on a cluster again after a drain')
    .argument('<cluster>', 'name of the MemberCluster')
    .action(async (cluster: string, options: ConnectOptions) => {
      using server = await connect(toHub(options));
      tellUncordoned(cluster, await uncordon(server, cluster));
    });
}

interface PluginFlags {
  readonly hubClusterContext: string;
  readonly clusterName: string;
  readonly timeout?: number;
  readonly kubeconfig?: string;
}

const pluginCommand = (root: Command, name: string, description: string): Command =>
  root
    .command(name)
    .description(description)
    .requiredOption('--hub-cluster-context <name>', 'context of the hub in the kubeconfig')
    .requiredOption('--cluster-name <name>', 'name of the MemberCluster')
    .option('--timeout <duration>', 'give up after this time (default: 5m)', duration)
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)');

const hubOf = ({ hubClusterContext: context, kubeconfig }: PluginFlags): ConnectOptions => ({
  context,
  ...(kubeconfig === undefined ? {} : { kubeconfig }),
});

/** Exit code 0 even if a budget blocks, as in KubeFleet; what is left is printed. */
export function addDrainCluster(root: Command): void {
  pluginCommand(root, 'draincluster', 'Taint a cluster, and evict every ClusterResourcePlacement from it').action(
    async (options: PluginFlags) => {
      const { clusterName: cluster, timeout: timeoutMs = FIVE_MINUTES } = options;
      using server = await connect(hubOf(options));
      tellLeft(cluster, await drain(server, { cluster, timeoutMs, maxRounds: PLUGIN_ROUNDS, ...ours }, print), print);
    },
  );
  pluginCommand(root, 'uncordoncluster', 'Allow placements on a cluster again after a drain').action(
    async (options: PluginFlags) => {
      const { clusterName: cluster, timeout = FIVE_MINUTES } = options;
      using server = await connect(hubOf(options));
      tellUncordoned(cluster, await uncordon(server, cluster, AbortSignal.timeout(timeout)));
    },
  );
}
