// Commands that show the progress of an object and why it does not progress.
import type { Command } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { noteFreezes } from '../../cli/freeze.ts';
import { namesGitRepo, showGitRepo, whichGitRepo, whyGitRepo } from '../../cli/git-repo/git-repo.ts';
import { showOverview } from '../../cli/overview/show-overview.ts';
import { membersFrom } from '../../cli/reading/member-servers.ts';
import { showRun } from '../../cli/run/run.ts';
import { createRun } from '../../cli/run/run-create.ts';
import { type RunVerb, setRunState } from '../../cli/run/run-state.ts';
import { connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { type WhichNamed, whichNamed } from '../../cli/server/which-named.ts';
import { status } from '../../cli/status/status.ts';
import { why, whyEviction, whyRun } from '../../cli/why/why.ts';
import { namesEviction, whichEviction } from '../../cli/why/why-eviction.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { namesRun, whichRun } from '../../insight/which-run.ts';
import {
  type AskOptions,
  asking,
  colorOption,
  duration,
  hubCommand,
  outputOption,
  print,
  showing,
  toHub,
  type WatchOptions,
} from './flags.ts';

export function addStatus(root: Command): void {
  asking(root.command('status'), 'placement/NAME, run/NAME, gitrepo/NAME or NAME (default: the whole fleet)', '[what]')
    .argument('[name]', 'NAME, if the first argument is a kind')
    .description('Show the whole fleet, most urgent first, or the progress of one placement or run, cluster by cluster')
    .option('-w, --watch', 'update the output until it is complete')
    .option('--timeout <duration>', 'with --watch: give up after this time, such as 90s or 10m', duration)
    .addHelpText(
      'after',
      `
Stages of a cluster:
  NotPicked, Waiting, Starting, Applying, Applied, Available; ApplyFailed, NotAvailable, OverrideFailed when something is wrong;
  Leaving when it is no longer picked; Comparing, Compared, CompareFailed where differences are only reported.

Exit codes:
  0  complete: every picked cluster has the newest revision, and all of it is available; of the fleet: all of it
  1  unknown: no such placement, API server unreachable, or access denied
  2  not complete, or not within --timeout; also when it selects nothing
  3  the run has failed
  130  stopped by Ctrl-C

Examples:
  flotilla status
  flotilla status --watch
  flotilla status web
  flotilla status placement/web
  flotilla status placement/web -n team --watch --timeout 10m`,
    )
    .action(async (word: string | undefined, name: string | undefined, options: WatchOptions) => {
      const argument = word === undefined || name === undefined ? word : `${word}/${name}`;
      const namespace = argument === undefined ? options.namespace : namespaceOf(argument, toHub(options));
      const isBare = argument !== undefined && !argument.includes('/');
      const named =
        argument === undefined || isBare || namesGitRepo(argument) ? undefined : whichOf(argument, namespace);
      const shown = showing(options);
      using server = await connect(toHub(options));
      if (argument !== undefined && namesGitRepo(argument)) {
        process.exitCode = await showGitRepo(server, whichGitRepo(argument, namespace), shown, print);
        return;
      }
      if (argument === undefined) {
        process.exitCode = await showOverview(
          server,
          { ...shown, ...(namespace === undefined ? {} : { namespace }) },
          print,
        );
        return;
      }
      const which = named ?? (await whichNamed(server, argument, namespace));
      process.exitCode =
        'run' in which
          ? await showRun(server, which.run, shown, print)
          : await status(server, which.placement, shown, print);
    });
}

const whichOf = (argument: string, namespace: string | undefined): WhichNamed =>
  namesRun(argument)
    ? { run: whichRun(argument, namespace) }
    : { placement: whichPlacement(argument, namespace, 'or run') };

const RUN_HELP = `
States of a gate:
  Pending, AwaitingApproval (a person must approve; the command is printed beside it), Rejected (it may still be approved), Approved,
  Waiting (for a time), Open.
States of a cluster:
  Pending, Updating, Done; Unreachable, Skipped, Failed when something is wrong.

Exit codes:
  0  it has succeeded
  1  unknown: no such run, API server unreachable, or access denied
  2  it has not ended, or not within --timeout
  3  it has failed, or could not start
  130  stopped by Ctrl-C

Examples:
  flotilla run show example-run
  flotilla run show example-run -n team --watch --timeout 1h
  flotilla run create placement/web --strategy by-stage --start
  flotilla run stop example-run`;

const inRunNamespace = (command: Command): Command =>
  command.option('-n, --namespace <name>', 'namespace of a StagedUpdateRun (default: a ClusterStagedUpdateRun)');

const showingRun = (command: Command): Command =>
  inRunNamespace(hubCommand(command))
    .argument('<run>', 'NAME or run/NAME')
    .option('-w, --watch', 'update the output until the run ends')
    .option('--timeout <duration>', 'with --watch: give up after this time, such as 90s or 10m', duration)
    .addOption(outputOption())
    .addOption(colorOption())
    .addHelpText('after', RUN_HELP)
    .action(async (argument: string, options: WatchOptions) => {
      const which = whichRun(argument, namespaceOf(argument, toHub(options)));
      const shown = showing(options);
      using server = await connect(toHub(options));
      process.exitCode = await showRun(server, which, shown, print);
    });

/** `run NAME` is an alias of `run show NAME`. */
export function addRun(root: Command): void {
  const run = showingRun(root.command('run'))
    .enablePositionalOptions()
    .description('Show a staged update run, or create, start, stop and resume one');
  showingRun(run.command('show')).description('Show its stages, clusters and gates, and what it waits for');
  inRunNamespace(hubCommand(run.command('create')))
    .description('Create a staged update run of a placement')
    .argument('<placement>', 'NAME or placement/NAME')
    .requiredOption('--strategy <name>', 'the strategy whose stages it follows')
    .option('--revision <index>', 'revision to roll out (default: what the placement selects now)')
    .option('--name <name>', 'name of the run (default: the placement and a suffix)')
    .option('--start', 'start it at once')
    .action(
      async (
        argument: string,
        options: AskOptions & { strategy: string; revision?: string; name?: string; start?: boolean },
      ) => {
        const what = argument.includes('/') ? argument : `placement/${argument}`;
        const which = whichPlacement(what, namespaceOf(what, toHub(options)));
        using server = await connect(toHub(options));
        await createRun(server, { ...options, which }, print);
        if (options.start) await noteFreezes(server, which, wallClock.now(), print);
      },
    );
  for (const [verb, does] of Object.entries(RUN_VERBS) as [RunVerb, string][]) {
    inRunNamespace(hubCommand(run.command(verb)))
      .description(does)
      .argument('<run>', 'NAME or run/NAME')
      .action(async (argument: string, options: AskOptions) => {
        const which = whichRun(argument, namespaceOf(argument, toHub(options)));
        using server = await connect(toHub(options));
        const name = await setRunState(server, which, verb, print);
        if (verb !== 'stop') await noteFreezes(server, { ...which, name }, wallClock.now(), print);
      });
  }
}

const RUN_VERBS: Readonly<Record<RunVerb, string>> = {
  start: 'Start a prepared run',
  stop: 'Stop a run: clusters that are being updated finish, no other cluster starts',
  resume: 'Resume a stopped run',
};

export function addWhy(root: Command): void {
  asking(root.command('why'), 'placement/NAME, run/NAME, gitrepo/NAME or eviction/NAME')
    .description(
      'Show why a placement or a staged update run is not progressing, or how an eviction ended: the cause, the evidence, what you can do',
    )
    .option('--cluster <name>', 'why this cluster waits, or was not picked')
    .addHelpText(
      'after',
      `
It reads the hub's API server with your rights, so it works while the controllers are down. If your kubeconfig has a context with the name of a
cluster, it also reads there why Pods do not start and why objects are not deleted. What could not be read is listed at the end.

Exit codes:
  0  it is complete; of a run: it has succeeded; of an eviction: it was executed
  1  unknown: no such placement, run or cluster, API server unreachable, or access denied
  2  it is blocked, it selects nothing, the run has failed, the cluster is not picked, or the eviction is
     open, blocked or invalid

Examples:
  flotilla why placement/web
  flotilla why placement/web -n team --cluster eu-1
  flotilla why run/example-run
  flotilla why run/example-run -n team --cluster eu-1
  flotilla why eviction/example-eviction`,
    )
    .action(async (argument: string, options: AskOptions & { cluster?: string }) => {
      const { cluster, output } = options;
      const namespace = namespaceOf(argument, toHub(options));
      using members = membersFrom(options);
      const asked = {
        clock: wallClock,
        members,
        ...(cluster === undefined ? {} : { cluster }),
        ...(output === undefined ? {} : { output }),
        ...(process.stdout.isTTY ? { columns: process.stdout.columns } : {}),
      };
      if (namesGitRepo(argument)) {
        const repo = whichGitRepo(argument, namespace);
        using server = await connect(toHub(options));
        process.exitCode = await whyGitRepo(server, repo, asked, print);
        return;
      }
      const evicted = namesEviction(argument) ? whichEviction(argument, namespace) : undefined;
      const which = namesRun(argument) ? whichRun(argument, namespace) : undefined;
      const placement =
        which === undefined && evicted === undefined ? whichPlacement(argument, namespace, 'or run') : undefined;
      using server = await connect(toHub(options));
      if (evicted !== undefined) process.exitCode = await whyEviction(server, evicted, asked, print);
      if (which !== undefined) process.exitCode = await whyRun(server, which, asked, print);
      if (placement !== undefined) process.exitCode = await why(server, placement, asked, print);
    });
}
