// All commands and their flags. Only wiring: what a command does stands in its own file. Servers are loaded when they are started: a person who
// asks for a placement does not wait for them.
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { Labels } from '../api/object.ts';
import { wallClock } from '../base/clock.ts';
import { parseDuration } from '../base/duration.ts';
import { UserError } from '../base/errors.ts';
import { apply } from '../cli/apply.ts';
import { approveRequest, approveRun, requestNamed } from '../cli/approve.ts';
import { type ConnectOptions, connect, findConnection } from '../cli/connect.ts';
import { CRD_TARGETS, type CrdTarget, crds } from '../cli/crds.ts';
import { deleteManifests, deleteNamed } from '../cli/delete.ts';
import { describe } from '../cli/describe.ts';
import { type GetOptions, get } from '../cli/get.ts';
import { join } from '../cli/join.ts';
import { readManifests } from '../cli/manifests.ts';
import { membersFrom } from '../cli/members.ts';
import { planPlacement } from '../cli/plan-placement.ts';
import { plannedByManifests, plannedByName, planRun } from '../cli/plan-run.ts';
import { policies } from '../cli/policies.ts';
import { revoke } from '../cli/revoke.ts';
import { ROLE_TARGETS, type RoleTarget, roles } from '../cli/roles.ts';
import { showRun } from '../cli/run.ts';
import type { ShowOptions } from '../cli/showing.ts';
import { status } from '../cli/status.ts';
import type { Print } from '../cli/target.ts';
import { terminalOn } from '../cli/terminal.ts';
import { whichPlacement } from '../cli/which-placement.ts';
import { namesRun, whichRun } from '../cli/which-run.ts';
import { why, whyRun } from '../cli/why.ts';
import type { apiserver } from './apiserver.ts';
import { shippedFleets } from './fleet.ts';
import type { hub } from './hub.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import type { member } from './member.ts';
import { MEMBERS_COMMAND } from './members-process.ts';
import { keepingMembers } from './membership-flags.ts';
import { durationUpTo, placing } from './placement-flags.ts';
import type { pretend } from './pretend.ts';
import { staging } from './run-flags.ts';
import { firstSignal } from './signals.ts';
import type { up } from './up.ts';
import { VERSION } from './version.ts';
import { wholeNumber } from './whole-number.ts';

const print: Print = {
  line: (text) => console.log(text),
  warning: (text) => console.error(`Warning: ${text}`),
  error: (text) => console.error(`error: ${text}`),
};

/** Its `approve` is that of KubeFleet's plugin, so that what is written for the one works with the other. */
export const PLUGIN = 'kubectl fleet';

export function program(name: string): Command {
  const root = new Command(name)
    // A command may have options that its subcommands have as well: `plan -f` and `plan run -f`.
    .enablePositionalOptions()
    .description('Ships changes to every Kubernetes cluster of a fleet, safely.')
    .version(VERSION)
    .showHelpAfterError('(add --help for what can be given)');
  addUp(root);
  addMembers(root);
  addHub(root);
  addMember(root);
  addJoin(root);
  addApiserver(root);
  addPretend(root);
  root
    .command('crds')
    .description('print the CustomResourceDefinitions of all Flotilla kinds as YAML')
    .option('--next', 'print those of placement.kubefleet.dev as well, which are not installed by default')
    .addArgument(new Argument('[for]', 'hub or member: only those (without: all)').choices(CRD_TARGETS))
    .action((target: CrdTarget | undefined, options: { next?: boolean }) =>
      print.line(crds({ ...options, ...(target === undefined ? {} : { target }) }).trimEnd()),
    );
  addRoles(root);
  addPolicies(root);
  addApply(root);
  addGet(root);
  addDescribe(root);
  addDelete(root);
  addStatus(root);
  addRun(root);
  addWhy(root);
  addPlan(root);
  if (name === PLUGIN) addApproveRequest(root);
  else addApproveRun(root);
  return root;
}

function addRoles(root: Command): void {
  root
    .command('roles')
    .description('print an identity and the rights that it needs, no more, or roles for people, as YAML')
    .addArgument(
      new Argument(
        '<for>',
        "hub: of the hub's controllers; member: of an agent on its own cluster; people: on the hub, for teams and approvers",
      ).choices(ROLE_TARGETS),
    )
    .addHelpText(
      'after',
      `
Roles for people are ClusterRoles. flotilla-view, flotilla-edit and flotilla-admin become part of Kubernetes' own view, edit and admin, and
reach as far as those are given. The others are to be given:
  kubectl create rolebinding approvers --clusterrole=flotilla-approver --group=leads -n team
  kubectl create clusterrolebinding approvers --clusterrole=flotilla-cluster-approver --group=leads`,
    )
    .action((target: RoleTarget) => print.line(roles(target).trimEnd()));
}

function addPolicies(root: Command): void {
  root
    .command('policies')
    .description('print the admission policy that keeps a hub from running what it places, as YAML')
    .option(
      '--reserved-namespace-prefixes <prefixes...>',
      'namespaces that begin so may have Pods (default: fleet- and kube-)',
    )
    .addHelpText(
      'after',
      `
To opt out, do not apply it, or delete the ValidatingAdmissionPolicyBinding: the hub then makes Pods of what it places, too.`,
    )
    .action((options: { reservedNamespacePrefixes?: string[] }) => print.line(policies(options).trimEnd()));
}

const MAX_EVENT_TTL_MS = 365 * 24 * 60 * 60 * 1000;

const serving = (command: Command, ports = 'port on 127.0.0.1; 0 = any free one'): Command =>
  command
    .option('--data-dir <dir>', 'where data, keys and the kubeconfig are kept', '.flotilla')
    .option('--in-memory', 'keep nothing: all is gone when it stops')
    .option('--port <number>', ports, port, 6443)
    .option(
      '--kubeconfig <file>',
      'where to write the kubeconfig (default: kubeconfig in the data directory, with --in-memory in-memory.kubeconfig)',
    )
    .option('--token-auth-file <file>', 'static bearer tokens: lines of token,user,uid,"group1,group2"')
    .option(
      '--event-ttl <duration>',
      'how long Events are kept after their last change; 0 = until deleted (default: 1h)',
      durationUpTo(MAX_EVENT_TTL_MS),
    );

const logging = (command: Command, usual: LogLevel): Command =>
  command.addOption(
    new Option('--log-level <level>', 'what goes to standard error').choices(LOG_LEVELS).default(usual),
  );

const UP_PORTS = 'port on 127.0.0.1, 0 = any free one; with more than 50 members the next port is used, too';

function addUp(root: Command): void {
  staging(placing(keepingMembers(logging(serving(root.command('up'), UP_PORTS), 'error'))))
    .description('run a hub and its members on this machine')
    .option('--members <number>', 'how many members (default: 3)', wholeNumber(1, 10_000))
    .option('--fleet <name or file>', `a fleet file (docs/fleet-file.md), or one of: ${shippedFleets().join(', ')}`)
    .option('--health-port <number>', "serve the hub's /healthz, /readyz and /metrics there", port)
    .action(async (...given: Parameters<typeof up>) => (await import('./up.ts')).up(...given));
}

/** Not for people: what `up` starts for a large fleet. */
function addMembers(root: Command): void {
  root.command(MEMBERS_COMMAND, { hidden: true }).action(async () => (await import('./members-command.ts')).members());
}

function addHub(root: Command): void {
  staging(placing(keepingMembers(logging(connecting(root.command('hub')), 'info'))))
    .description("run the hub's controllers against any Kubernetes API server")
    .option('--health-port <number>', 'serve /healthz, /readyz and /metrics there', port)
    .action(async (...given: Parameters<typeof hub>) => (await import('./hub.ts')).hub(...given));
}

function addMember(root: Command): void {
  logging(root.command('member'), 'info')
    .description('run the agent of a member cluster')
    .requiredOption('--name <name>', 'the MemberCluster on the hub')
    .requiredOption('--hub-kubeconfig <file>', "the agent's kubeconfig for the hub, as `join` writes it")
    .option('--hub-context <name>', 'context of that kubeconfig')
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the member (default: $KUBECONFIG, ~/.kube/config, or the Pod it runs in)',
    )
    .option('--context <name>', 'context of that kubeconfig')
    .option('--health-port <number>', 'serve /healthz, /readyz and /metrics there', port)
    .action(async (...given: Parameters<typeof member>) => (await import('./member.ts')).member(...given));
}

function addJoin(root: Command): void {
  connecting(root.command('join'))
    .description('let a cluster join the fleet: its identity on the hub, and a kubeconfig for its agent')
    .argument('<name>', 'the name of the member')
    .option('-l, --labels <labels>', 'labels of the member: key=value,key=value', labels)
    .option('--heartbeat-period-seconds <seconds>', 'how often its agent reports', wholeNumber(1, 600))
    .option('-o, --output <file>', "where the agent's kubeconfig goes (default: <name>.kubeconfig)")
    .option('--revoke', 'revoke the identity of the member now: every token that it has stops working')
    .action(
      async (
        name: string,
        options: ConnectOptions & {
          labels?: Labels;
          heartbeatPeriodSeconds?: number;
          output?: string;
          revoke?: boolean;
        },
      ) => {
        using server = await connect(options);
        if (options.revoke) return revoke(server, name, print);
        await join(
          server,
          findConnection(options),
          name,
          { ...options, labels: options.labels ?? {}, output: options.output ?? `${name}.kubeconfig` },
          print,
        );
      },
    );
}

function labels(text: string): Labels {
  const pairs = text.split(',').map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair[0] === '')) {
    throw new InvalidArgumentError('labels are key=value, separated by commas');
  }
  return Object.fromEntries(pairs) as Labels;
}

function addApiserver(root: Command): void {
  serving(root.command('apiserver'))
    .description('run the embedded Kubernetes API server alone')
    .option('--insecure-http', 'serve plain http as a single administrator, on loopback only')
    .action(async (...given: Parameters<typeof apiserver>) => (await import('./apiserver.ts')).apiserver(...given));
}

function addPretend(root: Command): void {
  logging(connecting(root.command('pretend')), 'info')
    .description('run nodes without machines for any Kubernetes API server: Pods are placed, start, fail or hang there')
    .option('--nodes <number>', 'how many nodes', wholeNumber(0, 1000), 2)
    .option('--name <name>', 'what the names of the nodes begin with', 'pretend')
    .option('--pull-seconds <seconds>', "from a Pod's binding to its start", wholeNumber(0, 86_400))
    .option('--ready-seconds <seconds>', "from a Pod's start to its readiness", wholeNumber(0, 86_400))
    .action(async (...given: Parameters<typeof pretend>) => (await import('./pretend.ts')).pretend(...given));
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('a port is 0 to 65535');
  return value;
}

const connecting = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig');

const inNamespace = (command: Command): Command =>
  connecting(command).option('-n, --namespace <name>', 'namespace to work in');

const KIND = 'plural, singular or short name, perhaps with its group: crp, pods, deployments.apps';

function addApply(root: Command): void {
  inNamespace(root.command('apply'))
    .description('create or change the objects of manifests')
    .requiredOption('-f, --filename <path...>', 'files or folders of YAML or JSON; - for standard input')
    .option('--dry-run', 'let the server check everything and store nothing')
    .action(async (options: ConnectOptions & { filename: string[]; dryRun?: boolean }) => {
      const manifests = readManifests(options.filename);
      if (manifests.length === 0) throw new UserError('ManifestInvalid', 'no objects in what -f names');
      using server = await connect(options);
      if ((await apply(server, manifests, options, print)) > 0) process.exitCode = 1;
    });
}

function addGet(root: Command): void {
  inNamespace(root.command('get'))
    .description('show objects')
    .argument('<kind>', KIND)
    .argument('[names...]')
    .option('-o, --output <form>', 'wide, yaml, json or name')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields')
    .option('-A, --all-namespaces', 'in all namespaces')
    .action(async (kind: string, names: string[], options: ConnectOptions & GetOptions) => {
      if (options.output !== undefined && !['wide', 'yaml', 'json', 'name'].includes(options.output)) {
        throw new UserError('BadFlag', `there is no output form "${options.output}": wide, yaml, json or name`);
      }
      using server = await connect(options);
      await get(server, kind, names, options, print);
    });
}

function addDescribe(root: Command): void {
  inNamespace(root.command('describe'))
    .description('show all about one object and what happened to it')
    .argument('<kind>', KIND)
    .argument('<name>')
    .action(async (kind: string, name: string, options: ConnectOptions) => {
      using server = await connect(options);
      await describe(server, kind, name, print);
    });
}

function addDelete(root: Command): void {
  inNamespace(root.command('delete'))
    .description('delete objects by name or by manifest')
    .argument('[kind]', KIND)
    .argument('[names...]')
    .option('-f, --filename <path...>', 'files or folders of YAML or JSON; - for standard input')
    .action(async (kind: string | undefined, names: string[], options: ConnectOptions & { filename?: string[] }) => {
      const manifests = options.filename ? readManifests(options.filename) : [];
      if (manifests.length === 0 && (kind === undefined || names.length === 0)) {
        throw new UserError('BadFlag', 'name what to delete: a kind and names, or -f');
      }
      using server = await connect(options);
      const refused =
        kind === undefined
          ? await deleteManifests(server, manifests, print)
          : await deleteNamed(server, kind, names, print);
      if (refused > 0) process.exitCode = 1;
    });
}

/** Of the hub, whatever context is current: a kubeconfig of a fleet has many. */
const hubCommand = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: "hub" if there is one, else the current one)');

const asking = (command: Command, what = 'placement/NAME'): Command =>
  hubCommand(command)
    .argument('<what>', what)
    .option(
      '-n, --namespace <name>',
      'what is meant is in this namespace (without: in none, such as a ClusterResourcePlacement)',
    )
    .addOption(new Option('-o, --output <form>', 'the same facts for programs').choices(['json']));

type AskOptions = ConnectOptions & { readonly output?: string };

const toHub = (options: ConnectOptions): ConnectOptions => ({ ...options, usualContext: 'hub' });

function addStatus(root: Command): void {
  asking(root.command('status'))
    .description('show how far a placement is, cluster by cluster')
    .option('-w, --watch', 'go on showing until it is complete')
    .option('--timeout <duration>', 'with --watch: give up after this time, such as 90s or 10m', duration)
    .addHelpText(
      'after',
      `
Stages of a cluster:
  NotPicked, Waiting, Starting, Applying, Applied, Available; ApplyFailed, NotAvailable, OverrideFailed when something is wrong;
  Leaving when it is no longer picked; Comparing, Compared, CompareFailed where differences are only reported.

Exit codes:
  0  complete: every picked cluster has the newest revision, and all of it is available
  1  it could not be found out: no such placement, no server, no right
  2  not complete, or not within --timeout; also when it selects nothing
  130  stopped by Ctrl-C

Examples:
  flotilla status placement/web
  flotilla status placement/web -n team --watch --timeout 10m`,
    )
    .action(async (argument: string, options: WatchOptions) => {
      const which = whichPlacement(argument, options.namespace);
      const shown = showing(options);
      using server = await connect(toHub(options));
      process.exitCode = await status(server, which, shown, print);
    });
}

type WatchOptions = AskOptions & { readonly watch?: boolean; readonly timeout?: number };

function showing({ output, watch, timeout }: WatchOptions): ShowOptions {
  if (timeout !== undefined && !watch) throw new UserError('BadFlag', '--timeout needs --watch');
  const stop = new AbortController();
  if (watch) void firstSignal().then(() => stop.abort());
  const terminal = terminalOn(process.stdout);
  return {
    clock: wallClock,
    signal: stop.signal,
    ...(output === undefined ? {} : { output }),
    ...(watch ? { watch } : {}),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(terminal === undefined ? {} : { terminal }),
  };
}

function addRun(root: Command): void {
  hubCommand(root.command('run'))
    .description('show a staged update run: its stages, clusters and gates, and what it waits for')
    .argument('<run>', 'NAME or run/NAME')
    .option('-n, --namespace <name>', 'a StagedUpdateRun in this namespace (without: a ClusterStagedUpdateRun)')
    .option('-w, --watch', 'go on showing until it is over')
    .option('--timeout <duration>', 'with --watch: give up after this time, such as 90s or 10m', duration)
    .addOption(new Option('-o, --output <form>', 'the same facts for programs').choices(['json']))
    .addHelpText(
      'after',
      `
States of a gate:
  Pending, Asked (a person is to approve; the command stands beside it), Approved, Waiting (for a time), Open.
States of a cluster:
  Pending, Updating, Done; Unreachable, Skipped, Failed when something is wrong.

Exit codes:
  0  it has succeeded
  1  it could not be found out: no such run, no server, no right
  2  it is not over, or not within --timeout
  3  it has failed, or could not begin
  130  stopped by Ctrl-C

Examples:
  flotilla run example-run
  flotilla run example-run -n team --watch --timeout 1h
  flotilla run example-run -o json`,
    )
    .action(async (argument: string, options: WatchOptions) => {
      const which = whichRun(argument, options.namespace);
      const shown = showing(options);
      using server = await connect(toHub(options));
      process.exitCode = await showRun(server, which, shown, print);
    });
}

function addWhy(root: Command): void {
  asking(root.command('why'), 'placement/NAME or run/NAME')
    .description(
      'say why a placement or a staged update run does not move: one sentence, the evidence, what you can do',
    )
    .option('--cluster <name>', 'why this cluster waits, or was not picked')
    .addHelpText(
      'after',
      `
It reads what you may read on the hub's API server: it answers while the hub is down. Where your kubeconfig has a context of a cluster's name, it
also looks there, as you, at the Pods of what does not come up and at what does not let itself be deleted. What you may not read is named at the end, and the answer does without it.

Exit codes:
  0  nothing holds it; of a run: it has succeeded
  1  it could not be found out: no such placement, run or cluster, no server, no right
  2  something holds it, it selects nothing, the run has failed, or the cluster is not picked

Examples:
  flotilla why placement/web
  flotilla why placement/web -n team --cluster eu-1
  flotilla why run/example-run
  flotilla why run/example-run -n team --cluster eu-1`,
    )
    .action(async (argument: string, options: AskOptions & { cluster?: string }) => {
      const { cluster, output, namespace } = options;
      using members = membersFrom(options);
      const asked = {
        clock: wallClock,
        members,
        ...(cluster === undefined ? {} : { cluster }),
        ...(output === undefined ? {} : { output }),
      };
      const which = namesRun(argument) ? whichRun(argument, namespace) : undefined;
      const placement = which === undefined ? whichPlacement(argument, namespace, 'or run') : undefined;
      using server = await connect(toHub(options));
      if (which !== undefined) process.exitCode = await whyRun(server, which, asked, print);
      if (placement !== undefined) process.exitCode = await why(server, placement, asked, print);
    });
}

function addPlan(root: Command): void {
  const plan = hubCommand(root.command('plan'))
    .enablePositionalOptions()
    .description(
      'say what would happen, and write nothing: which clusters a placement would get, or what a run would do',
    )
    .option('-f, --filename <path...>', 'a placement that is new or changed; - for standard input')
    .option('-n, --namespace <name>', 'of a ResourcePlacement that names none')
    .addOption(new Option('-o, --output <form>', 'the same facts for programs').choices(['json']))
    .addHelpText(
      'after',
      `
The scheduler's own cycle runs over the clusters as they are now. Nothing is written; what -f names is checked by a dry run.

Exit codes:
  0  the policy would be fulfilled
  1  it could not be found out: no server, no right, or the server would not take what -f names
  2  fewer clusters fit than the policy asks for

Examples:
  flotilla plan -f placement.yaml
  flotilla plan -f placement.yaml -o json
  flotilla plan run example-run`,
    )
    .action(async (options: AskOptions & { filename?: string[] }) => {
      const { filename, namespace, output } = options;
      if (filename === undefined) {
        throw new UserError('BadFlag', 'name a placement by a file with -f, or a run: flotilla plan run NAME');
      }
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
    .description('what a staged update run would do: stages, order, waves, gates, and the change on each cluster')
    .argument('[run]', 'NAME or run/NAME of a run on the hub')
    .option('-f, --filename <path...>', 'a run that is not there yet, perhaps with its strategy; - for standard input')
    .option('-n, --namespace <name>', 'a StagedUpdateRun in this namespace (without: a ClusterStagedUpdateRun)')
    .addOption(new Option('-o, --output <form>', 'the same facts for programs').choices(['json']))
    .addHelpText(
      'after',
      `
The hub's own decisions are carried out on pretended objects. Assumed is that clusters work as soon as they have the revision, that people approve
at once, and that the fleet stays as it is. Nothing is written; what -f names is checked by a dry run.

Exit codes:
  0  it would succeed
  1  it could not be found out: no such run, no server, no right, or the server would not take what -f names
  2  it would wait for something that only others can give
  3  it could not begin, or would fail; the hub's own words say why

Examples:
  flotilla plan run example-run
  flotilla plan run -f run.yaml
  flotilla plan run -f strategy.yaml -f run.yaml -n team -o json`,
    )
    .action(async (argument: string | undefined, options: AskOptions & { filename?: string[] }) => {
      const { filename, namespace, output } = options;
      if ((argument === undefined) === (filename === undefined)) {
        throw new UserError('BadFlag', 'name one run: by its NAME, or by a file with -f');
      }
      const which = argument === undefined ? undefined : whichRun(argument, namespace);
      const manifests = filename === undefined ? [] : readManifests(filename);
      using server = await connect(toHub(options));
      const planned =
        which === undefined
          ? await plannedByManifests(server, manifests, {
              warn: print.warning,
              ...(namespace === undefined ? {} : { namespace }),
            })
          : await plannedByName(server, which);
      const asked = { clock: wallClock, ...(output === undefined ? {} : { output }) };
      process.exitCode = await planRun(server, planned, asked, print);
    });
}

function addApproveRun(root: Command): void {
  hubCommand(root.command('approve'))
    .description('open a gate of a staged update run')
    .argument('<run>', 'NAME or run/NAME')
    .option('--stage <name>', 'the stage whose gate it is (without: the one gate that waits for an approval)')
    .addOption(new Option('--before', 'the gate before the stage').conflicts('after'))
    .option('--after', 'the gate after the stage (without either: the one that is closed)')
    .option('-m, --message <text>', 'kept with the approval, for whoever asks later')
    .option('-n, --namespace <name>', 'a StagedUpdateRun in this namespace (without: a ClusterStagedUpdateRun)')
    .addHelpText(
      'after',
      `
Examples:
  flotilla approve example-run
  flotilla approve example-run --stage canary --after
  flotilla approve example-run -n team --stage prod --before -m "the numbers of canary look good"`,
    )
    .action(async (run: string, options: ApproveRunFlags) => {
      const { namespace, stage, before, after, message } = options;
      using server = await connect(toHub(options));
      await approveRun(
        server,
        {
          run,
          clock: wallClock,
          ...(stage === undefined ? {} : { stage }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(before ? { when: 'before' } : after ? { when: 'after' } : {}),
          ...(message === undefined ? {} : { message }),
        },
        print,
      );
    });
}

type ApproveRunFlags = ConnectOptions & { stage?: string; before?: boolean; after?: boolean; message?: string };

const FIVE_MINUTES = 5 * 60_000;

function addApproveRequest(root: Command): void {
  root
    .command('approve')
    .description('approve a request of a staged update run')
    .argument('<kind>', 'clusterapprovalrequest (careq) or approvalrequest (areq)')
    .requiredOption('--hub-cluster-context <name>', 'context of the hub in the kubeconfig')
    .requiredOption('--name <name>', 'the request')
    .option('-n, --namespace <name>', 'namespace of an approvalrequest')
    .option('--timeout <duration>', 'give up after this time (default: 5m)', duration)
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)')
    .addHelpText(
      'after',
      `
Examples:
  kubectl fleet approve clusterapprovalrequest --hub-cluster-context hub --name example-run-after-canary
  kubectl fleet approve areq --hub-cluster-context hub --name example-run-before-prod -n team`,
    )
    .action(async (kind: string, options: ApproveRequestFlags) => {
      const { hubClusterContext: context, name, namespace, timeout: timeoutMs = FIVE_MINUTES, kubeconfig } = options;
      const which = { kind, name, ...(namespace === undefined ? {} : { namespace }) };
      requestNamed(which);
      using server = await connect({ context, ...(kubeconfig === undefined ? {} : { kubeconfig }) });
      await approveRequest(server, { ...which, timeoutMs, clock: wallClock }, print);
    });
}

interface ApproveRequestFlags {
  readonly hubClusterContext: string;
  readonly name: string;
  readonly namespace?: string;
  readonly timeout?: number;
  readonly kubeconfig?: string;
}

function duration(text: string): number {
  const ms = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('a duration such as 90s or 10m is expected');
  return ms;
}
