// `flotilla history` and `flotilla rollback`.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { history } from '../../cli/revisions/history.ts';
import { rollback } from '../../cli/revisions/rollback.ts';
import { connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { type AskOptions, asking, hubCommand, print, toHub } from './flags.ts';

export function addHistory(root: Command): void {
  asking(root.command('history'))
    .description('Show the revisions of a placement: when, what changed, by which program, which clusters have each')
    .option('--full', 'show every changed field')
    .addHelpText(
      'after',
      `
Examples:
  flotilla history placement/web
  flotilla history placement/web -n team --full`,
    )
    .action(async (argument: string, options: AskOptions & { full?: boolean }) => {
      const which = whichPlacement(argument, namespaceOf(argument, toHub(options)));
      const { full, output } = options;
      const asked = { clock: wallClock, ...(full ? { full } : {}), ...(output === undefined ? {} : { output }) };
      using server = await connect(toHub(options));
      await history(server, which, asked, print);
    });
}

interface RollbackFlags extends AskOptions {
  readonly to?: string;
  readonly prune?: boolean;
  readonly yes?: boolean;
  readonly strategy?: string;
}

export function addRollback(root: Command): void {
  hubCommand(root.command('rollback'))
    .argument('<what>', 'placement/NAME')
    .description('Restore the objects of a placement on the hub from an earlier revision')
    .option('-n, --namespace <name>', 'namespace of a ResourcePlacement (default: a ClusterResourcePlacement)')
    .option('--to <revision>', 'revision to restore (default: the one before the newest)')
    .option('--prune', 'delete selected objects that the revision does not contain')
    .option(
      '--strategy <name>',
      'strategy of the run, for a placement with strategy External (default: that of its last run)',
    )
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      `
It shows what changes, checks every write by a dry run, asks, and writes as you. The rollback is then a change like any other: it rolls out by the
strategy of the placement. A placement with strategy External gets a run with that revision instead.

Exit codes:
  0  written, or nothing to do
  1  refused, declined or unknown; nothing was written unless the message says so

Examples:
  flotilla rollback placement/web
  flotilla rollback placement/web -n team --to 3 --yes`,
    )
    .action(async (argument: string, options: RollbackFlags) => {
      const { to, prune, strategy, yes } = options;
      const which = whichPlacement(argument, namespaceOf(argument, toHub(options)));
      using server = await connect(toHub(options));
      const asked = {
        ...(to === undefined ? {} : { to }),
        ...(prune ? { prune } : {}),
        ...(strategy === undefined ? {} : { strategy }),
        now: wallClock.now(),
        confirm: yes ? async () => true : ask,
      };
      await rollback(server, which, asked, print);
    });
}

async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UserError(
      'BadFlag',
      'nothing was written: confirm with --yes, because the standard input is not a terminal',
    );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
