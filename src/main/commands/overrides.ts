// `flotilla overrides`: the overrides of each cluster.
import { type Command, Option } from 'commander';
import { showOverrides } from '../../cli/overrides.ts';
import { connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { type AskOptions, hubCommand, print, toHub } from './flags.ts';

export function addOverrides(root: Command): void {
  hubCommand(root.command('overrides'))
    .description('Show which overrides apply on each cluster, in which order, and what they change')
    .argument('<placement>', 'placement/NAME')
    .option('-n, --namespace <name>', 'namespace of a ResourcePlacement (default: a ClusterResourcePlacement)')
    .option('--cluster <name>', 'this cluster only')
    .addOption(
      new Option('-o, --output <form>', 'yaml: the objects as the clusters get them; json for programs').choices([
        'yaml',
        'json',
      ]),
    )
    .addHelpText(
      'after',
      `
The objects are compared with those on the hub now. Nothing is written.

Exit codes:
  0  all overrides apply
  1  unknown: no such placement or cluster, API server unreachable, or access denied
  2  an override does not apply on a cluster

Examples:
  flotilla overrides placement/web
  flotilla overrides placement/web -n team --cluster eu-1 -o yaml`,
    )
    .action(async (argument: string, options: AskOptions & { cluster?: string }) => {
      const { cluster, output } = options;
      const which = whichPlacement(argument, namespaceOf(argument, toHub(options)));
      using server = await connect(toHub(options));
      const asked = { ...(cluster === undefined ? {} : { cluster }), ...(output === undefined ? {} : { output }) };
      process.exitCode = await showOverrides(server, which, asked, print);
    });
}
