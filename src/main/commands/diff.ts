// `flotilla diff`: the differences between the hub and the clusters, or between two revisions.
import { type Command, Option } from 'commander';
import { diff } from '../../cli/diff/diff.ts';
import { membersFrom } from '../../cli/reading/member-servers.ts';
import { connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { sidesOf } from '../../member/compare/compare.ts';
import { type AskOptions, hubCommand, print, toHub } from './flags.ts';

interface DiffFlags extends AskOptions {
  readonly cluster?: string;
  readonly revision: readonly string[];
}

const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function addDiff(root: Command): void {
  hubCommand(root.command('diff'))
    .description('Show how the clusters differ from the hub, object by object, or what changed between two revisions')
    .argument('<placement>', 'placement/NAME')
    .option('-n, --namespace <name>', 'namespace of a ResourcePlacement (default: a ClusterResourcePlacement)')
    .option('--cluster <name>', 'this cluster only')
    .option('--revision <number>', 'given twice: compare these two revisions instead', collected, [])
    .addOption(new Option('-o, --output <form>', 'json for programs').choices(['json']))
    .addHelpText(
      'after',
      `
Lines with "-" are on the cluster, lines with "+" are the desired state from the hub, overrides included. A cluster is read through the context of
its name in your kubeconfig. Without one the answer comes from the drift and diff lists in the status of the placement, and says so. Values of
Secrets are masked. Nothing is written.

Exit codes:
  0  no differences
  1  unknown: no such placement, cluster or revision, API server unreachable, or access denied
  2  there are differences

Examples:
  flotilla diff placement/web
  flotilla diff placement/web -n team --cluster eu-1
  flotilla diff placement/web --revision 3 --revision 4`,
    )
    .action(async (argument: string, options: DiffFlags) => {
      const { cluster, output, revision } = options;
      const which = whichPlacement(argument, namespaceOf(argument, toHub(options)));
      using server = await connect(toHub(options));
      using members = membersFrom(options);
      const asked = {
        members,
        sides: sidesOf,
        revisions: revision,
        ...(cluster === undefined ? {} : { cluster }),
        ...(output === undefined ? {} : { output }),
      };
      process.exitCode = await diff(server, which, asked, print);
    });
}
