// `flotilla pause` and `flotilla resume`.
import type { Command } from 'commander';
import { setPaused } from '../../cli/pause.ts';
import { connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { type AskOptions, hubCommand, print, toHub } from './flags.ts';

export function addPause(root: Command): void {
  for (const paused of [true, false]) {
    const word = paused ? 'pause' : 'resume';
    hubCommand(root.command(word))
      .description(paused ? 'Pause the rollout of a placement' : 'Resume the rollout of a placement')
      .argument('<what>', 'placement/NAME')
      .option('-n, --namespace <name>', 'namespace of a ResourcePlacement (default: a ClusterResourcePlacement)')
      .addHelpText(
        'after',
        `
While a rolling or partitioned rollout is paused, no cluster is updated and nothing is removed. Members finish applying what they have received.

Examples:
  flotilla ${word} placement/web
  flotilla ${word} placement/web -n team`,
      )
      .action(async (argument: string, options: AskOptions) => {
        const which = whichPlacement(argument, namespaceOf(argument, toHub(options)));
        using server = await connect(toHub(options));
        await setPaused(server, which, paused, print);
      });
  }
}
