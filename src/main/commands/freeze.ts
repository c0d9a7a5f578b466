// `flotilla freeze` and `flotilla unfreeze`.
import type { Command } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { freezeFleet, unfreeze } from '../../cli/freeze.ts';
import { type ConnectOptions, connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { hubCommand, print, toHub } from './flags.ts';

interface FreezeFlags extends ConnectOptions {
  readonly message: string;
  readonly until?: string;
  readonly placement?: readonly string[];
  readonly clusters?: string;
}

export function addFreeze(root: Command): void {
  hubCommand(root.command('freeze'))
    .description('Hold rollouts and runs: no cluster is updated and no object is removed')
    .requiredOption('-m, --message <text>', 'reason, shown for everything that the freeze blocks')
    .option('--until <time>', 'when the freeze ends: a time such as 2030-01-31T06:00:00Z, or a duration such as 2h')
    .option('--placement <name...>', 'only these placements (default: all)')
    .option('-n, --namespace <name>', 'the named placements are ResourcePlacements in this namespace')
    .option('--clusters <labels>', 'only the clusters with these labels, as in kubectl -l (default: all)')
    .addHelpText(
      'after',
      `
Members finish applying what they have received. Approvals, evictions and the deletion of a placement are not held.

Examples:
  flotilla freeze -m "incident 42"
  flotilla freeze -m "weekend" --until 60h --clusters env=prod
  flotilla freeze -m "bad release" --placement shop`,
    )
    .action(async ({ message, until, placement = [], clusters, ...options }: FreezeFlags) => {
      const placements = placement.map((name) =>
        whichPlacement(name.includes('/') ? name : `placement/${name}`, namespaceOf(name, toHub(options))),
      );
      using server = await connect(toHub(options));
      await freezeFleet(
        server,
        {
          reason: message,
          placements,
          ...(until === undefined ? {} : { until }),
          ...(clusters === undefined ? {} : { clusters }),
          now: wallClock.now(),
        },
        print,
      );
    });
}

export function addUnfreeze(root: Command): void {
  hubCommand(root.command('unfreeze'))
    .description('End a freeze')
    .argument('[names...]', 'names of Freezes (default: the only one)')
    .option('--all', 'end all of them')
    .addHelpText(
      'after',
      `
Examples:
  flotilla unfreeze
  flotilla unfreeze freeze-x7k2p`,
    )
    .action(async (names: readonly string[], { all = false, ...options }: ConnectOptions & { all?: boolean }) => {
      using server = await connect(toHub(options));
      await unfreeze(server, names, { all, now: wallClock.now() }, print);
    });
}
