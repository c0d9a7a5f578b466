// `flotilla plan`: what a change would do.
import { type Command, Option } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { namesGitRepo, whichGitRepo } from '../../cli/git-repo/git-repo.ts';
import { readManifests } from '../../cli/objects/manifests.ts';
import { planGitRepo } from '../../cli/plan/plan-git-repo.ts';
import { planPlacement } from '../../cli/plan/plan-placement.ts';
import { planRollout } from '../../cli/plan/plan-rollout.ts';
import { plannedByManifests, plannedByName, planRun } from '../../cli/plan/plan-run.ts';
import { connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { whichPlacement } from '../../insight/which-placement.ts';
import { whichRun } from '../../insight/which-run.ts';
import { gitOf } from '../git-flags.ts';
import { type AskOptions, duration, hubCommand, print, toHub } from './flags.ts';

export function addPlan(root: Command): void {
  const plan = hubCommand(root.command('plan'))
    .enablePositionalOptions()
    .description('Forecast which clusters a placement would get, or what a run would do, without writing anything')
    .argument('[placement]', 'placement/NAME: how its rollout would go; gitrepo/NAME: what its newest commit would do')
    .option('-f, --filename <path...>', 'a placement, or objects that it selects, new or changed; - for standard input')
    .option('--image <container=image...>', 'with placement/NAME: containers of this name get this image')
    .option(
      '--duration <duration>',
      'with placement/NAME: how long a cluster takes (default: the median of past updates)',
      duration,
    )
    .option('--branch <branch>', 'with gitrepo/NAME: a branch other than the one that it follows')
    .option('--revision <revision>', 'with gitrepo/NAME: a commit or a tag')
    .option('--full', 'with placement/NAME: show each field that changes')
    .option('-n, --namespace <name>', 'namespace of a ResourcePlacement that names none')
    .addOption(new Option('-o, --output <form>', 'json for programs').choices(['json']))
    .addHelpText(
      'after',
      `
Without placement/NAME, the scheduler's own cycle runs over the clusters as they are now. With it, the hub's own rollout decisions are carried out
on objects in memory: partitions, waves, holds and the time they take. Nothing is written; the objects of -f are validated by a dry run.

Exit codes:
  0  the policy would be fulfilled; the rollout would complete
  1  unknown: API server unreachable, access denied, or the file of -f was refused
  2  fewer clusters fit than the policy asks for; the rollout would wait

Examples:
  flotilla plan placement/web --image web=web:2
  flotilla plan placement/web -n team -f changed.yaml --full --duration 30s
  flotilla plan gitrepo/shop --branch next
  flotilla plan -f placement.yaml
  flotilla plan -f placement.yaml -o json
  flotilla plan run example-run`,
    )
    .action(async (argument: string | undefined, options: RolloutOptions) => {
      const { filename, namespace, output } = options;
      if (argument !== undefined) return planOne(argument, options);
      if (filename === undefined) {
        throw new UserError(
          'BadFlag',
          'name a placement: placement/NAME, or by a file with -f; or a run: flotilla plan run NAME',
        );
      }
      for (const flag of ['image', 'duration', 'full', 'branch', 'revision'] as const)
        if (options[flag] !== undefined)
          throw new UserError('BadFlag', `--${flag} needs placement/NAME or gitrepo/NAME`);
      const manifests = readManifests(filename);
      using server = await connect(toHub(options));
      const asked = {
        clock: wallClock,
        ...(output === undefined ? {} : { output }),
        ...(namespace === undefined ? {} : { namespace }),
      };
      process.exitCode = await planPlacement(server, manifests, asked, print);
    });
  hubCommand(plan.command('run'))
    .description('Show what a staged update run would do: stages, order, waves, gates, and the change on each cluster')
    .argument('[run]', 'NAME or run/NAME of a run on the hub')
    .option('-f, --filename <path...>', 'a run that is not there yet, perhaps with its strategy; - for standard input')
    .option('--duration <duration>', 'how long a cluster takes (default: the median of past updates)', duration)
    .option('--full', 'show each field that changes')
    .option('-n, --namespace <name>', 'namespace of a StagedUpdateRun (default: a ClusterStagedUpdateRun)')
    .addOption(new Option('-o, --output <form>', 'json for programs').choices(['json']))
    .addHelpText(
      'after',
      `
It carries out the hub's own decisions on objects in memory. It assumes that a cluster becomes available after --duration, that approvals are given
at once, and that the fleet does not change. Nothing is written; the objects of -f are validated by a dry run.

Exit codes:
  0  it would succeed
  1  unknown: no such run, API server unreachable, access denied, or the file of -f was refused
  2  it would wait for a person or another object
  3  it could not start, or would fail; the message of the hub says why

Examples:
  flotilla plan run example-run
  flotilla plan run example-run --full --duration 5m
  flotilla plan run -f run.yaml
  flotilla plan run -f strategy.yaml -f run.yaml -n team -o json`,
    )
    .action(async (argument: string | undefined, options: RunOptions) => {
      const { filename, namespace, output, full = false, duration: durationMs } = options;
      if ((argument === undefined) === (filename === undefined)) {
        throw new UserError('BadFlag', 'name one run: by its NAME, or by a file with -f');
      }
      const which = argument === undefined ? undefined : whichRun(argument, namespaceOf(argument, toHub(options)));
      const manifests = filename === undefined ? [] : readManifests(filename);
      using server = await connect(toHub(options));
      const planned =
        which === undefined
          ? await plannedByManifests(server, manifests, {
              warn: print.warning,
              ...(namespace === undefined ? {} : { namespace }),
            })
          : await plannedByName(server, which);
      const asked = {
        clock: wallClock,
        full,
        ...(output === undefined ? {} : { output }),
        ...(durationMs === undefined ? {} : { durationMs }),
      };
      process.exitCode = await planRun(server, planned, asked, print);
    });
}

type RunOptions = AskOptions & Pick<RolloutOptions, 'filename' | 'duration' | 'full'>;

type RolloutOptions = AskOptions & {
  readonly filename?: string[];
  readonly image?: string[];
  readonly duration?: number;
  readonly full?: boolean;
  readonly branch?: string;
  readonly revision?: string;
};

async function planOne(argument: string, options: RolloutOptions): Promise<void> {
  if (namesGitRepo(argument)) return planRepository(argument, options);
  for (const flag of ['branch', 'revision'] as const)
    if (options[flag] !== undefined) throw new UserError('BadFlag', `--${flag} needs gitrepo/NAME`);
  const { filename, output, image = [], duration: durationMs, full = false } = options;
  const which = whichPlacement(argument, namespaceOf(argument, toHub(options)));
  const manifests = filename === undefined ? [] : readManifests(filename);
  using server = await connect(toHub(options));
  const asked = {
    clock: wallClock,
    manifests,
    images: image,
    full,
    ...(output === undefined ? {} : { output }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
  process.exitCode = await planRollout(server, which, asked, print);
}

/** This process reads the repository with its user's permissions, so file URLs are allowed. */
async function planRepository(argument: string, options: RolloutOptions): Promise<void> {
  const { output, duration: durationMs, full = false, branch, revision } = options;
  for (const flag of ['image', 'filename'] as const)
    if (options[flag] !== undefined) throw new UserError('BadFlag', `--${flag} needs placement/NAME`);
  if (branch !== undefined && revision !== undefined)
    throw new UserError('BadFlag', 'set either --branch or --revision');
  const at = whichGitRepo(argument, namespaceOf(argument, toHub(options)));
  using server = await connect(toHub(options));
  await using git = await gitOf({ allowFileRepositories: true });
  const asked = {
    clock: wallClock,
    full,
    git,
    signal: new AbortController().signal,
    ...(branch === undefined ? {} : { branch }),
    ...(revision === undefined ? {} : { revision }),
    ...(output === undefined ? {} : { output }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
  process.exitCode = await planGitRepo(server, at, asked, print);
}
