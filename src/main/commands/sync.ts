// `flotilla sync`.
import type { Command } from 'commander';
import { syncGitRepo, whichGitRepo } from '../../cli/git-repo/git-repo.ts';
import { connect } from '../../cli/server/connect.ts';
import { type AskOptions, hubCommand, print, toHub } from './flags.ts';

export function addSync(root: Command): void {
  hubCommand(root.command('sync'))
    .description('Read the repository of a GitRepo now')
    .argument('<what>', 'gitrepo/NAME')
    .option('-n, --namespace <name>', 'namespace of the GitRepo (default: fleet-system)')
    .addHelpText(
      'after',
      `
Examples:
  flotilla sync gitrepo/shop
  flotilla sync gitrepo/shop -n team`,
    )
    .action(async (argument: string, options: AskOptions) => {
      const which = whichGitRepo(argument, options.namespace);
      using server = await connect(toHub(options));
      await syncGitRepo(server, which, print);
    });
}
