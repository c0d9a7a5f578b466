// `flotilla approve RUN`, and `kubectl fleet approve KIND` as in KubeFleet's plugin.
import { type Command, Option } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { type ApproveRun, approveRequest, approveRun, rejectRun, requestNamed } from '../../cli/approve/approve.ts';
import { type ConnectOptions, connect } from '../../cli/server/connect.ts';
import { namespaceOf } from '../../cli/server/context-namespace.ts';
import { duration, hubCommand, print, toHub } from './flags.ts';

export function addReject(root: Command): void {
  hubCommand(root.command('reject'))
    .description('Reject a gate of a staged update run: the run waits until it is approved or stopped')
    .argument('<run>', 'NAME or run/NAME')
    .option('--stage <name>', 'stage of the gate (default: the one gate that waits for an approval)')
    .addOption(new Option('--before', 'the gate before the stage').conflicts('after'))
    .option('--after', 'the gate after the stage (default: the one that is closed)')
    .requiredOption('-m, --message <text>', 'reason, shown with the run')
    .option('-n, --namespace <name>', 'namespace of a StagedUpdateRun (default: a ClusterStagedUpdateRun)')
    .addHelpText(
      'after',
      `
Examples:
  flotilla reject example-run -m "the error rate doubled"
  flotilla reject example-run -n team --stage canary --after -m "see incident 42"`,
    )
    .action(async (run: string, options: ApproveRunFlags) => {
      using server = await connect(toHub(options));
      await rejectRun(server, meantBy(run, options), print);
    });
}

function meantBy(run: string, options: ApproveRunFlags): ApproveRun {
  const { stage, before, after, message } = options;
  const namespace = namespaceOf(run, toHub(options));
  return {
    run,
    clock: wallClock,
    ...(stage === undefined ? {} : { stage }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(before ? { when: 'before' } : after ? { when: 'after' } : {}),
    ...(message === undefined ? {} : { message }),
  };
}

export function addApproveRun(root: Command): void {
  hubCommand(root.command('approve'))
    .description('Approve a gate of a staged update run')
    .argument('<run>', 'NAME or run/NAME')
    .option('--stage <name>', 'stage of the gate (default: the one gate that waits for an approval)')
    .addOption(new Option('--before', 'the gate before the stage').conflicts('after'))
    .option('--after', 'the gate after the stage (default: the one that is closed)')
    .option('-m, --message <text>', 'stored with the approval')
    .option('-n, --namespace <name>', 'namespace of a StagedUpdateRun (default: a ClusterStagedUpdateRun)')
    .addHelpText(
      'after',
      `
Examples:
  flotilla approve example-run
  flotilla approve example-run --stage canary --after
  flotilla approve example-run -n team --stage prod --before -m "the numbers of canary look good"`,
    )
    .action(async (run: string, options: ApproveRunFlags) => {
      using server = await connect(toHub(options));
      await approveRun(server, meantBy(run, options), print);
    });
}

type ApproveRunFlags = ConnectOptions & { stage?: string; before?: boolean; after?: boolean; message?: string };

const FIVE_MINUTES = 5 * 60_000;

export function addApproveRequest(root: Command): void {
  root
    .command('approve')
    .description('Approve a request of a staged update run')
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
