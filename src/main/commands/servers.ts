// Commands that run until they are stopped. Their modules are loaded on demand, so that other commands start fast.
import { type Command, Option } from 'commander';
import type { apiserver } from '../apiserver.ts';
import { shippedFleets } from '../fleet.ts';
import { following } from '../git-flags.ts';
import type { hub } from '../hub.ts';
import { LOG_LEVELS, type LogLevel } from '../log.ts';
import type { member } from '../member.ts';
import { MEMBERS_COMMAND } from '../members-process.ts';
import { keepingMembers } from '../membership-flags.ts';
import { durationUpTo, placing } from '../placement-flags.ts';
import type { pretend } from '../pretend.ts';
import { staging } from '../run-flags.ts';
import type { up } from '../up.ts';
import { wholeNumber } from '../whole-number.ts';
import { connecting, port } from './flags.ts';

const MAX_EVENT_TTL_MS = 365 * 24 * 60 * 60 * 1000;

const serving = (command: Command, ports = 'port to listen on; 0 = any free one'): Command =>
  command
    .option('--data-dir <dir>', 'where data, keys and the kubeconfig are kept', '.flotilla')
    .option('--in-memory', 'keep data in memory only; lost on exit')
    .option('--port <number>', ports, port, 6443)
    .option('--bind <address>', 'IP address to listen on; 0.0.0.0 = all of this machine (default: 127.0.0.1)')
    .option('--advertise <host>', 'name or address at which others reach it, for kubeconfigs and the certificate')
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
    new Option('--log-level <level>', 'minimum level of the log on standard error').choices(LOG_LEVELS).default(usual),
  );

const UP_PORTS = 'port to listen on, 0 = any free one; with more than 50 members the next port is used, too';

export function addUp(root: Command): void {
  following(staging(placing(keepingMembers(logging(serving(root.command('up'), UP_PORTS), 'error')))))
    .description('Run a hub and its members on this machine')
    .option('--members <number>', 'how many members (default: 3)', wholeNumber(1, 10_000))
    .option('--fleet <name or file>', `a fleet file (docs/fleet-file.md), or one of: ${shippedFleets().join(', ')}`)
    .option('--health-port <number>', "serve the hub's /healthz, /readyz and /metrics there", port)
    .action(async (...given: Parameters<typeof up>) => (await import('../up.ts')).up(...given));
}

/** Internal: `up` starts it for a large fleet. */
export function addMembersProcess(root: Command): void {
  root.command(MEMBERS_COMMAND, { hidden: true }).action(async () => (await import('../members-command.ts')).members());
}

export function addHub(root: Command): void {
  following(staging(placing(keepingMembers(logging(connecting(root.command('hub')), 'info')))))
    .description("Run the hub's controllers against any Kubernetes API server")
    .option('--health-port <number>', 'serve /healthz, /readyz and /metrics there', port)
    .action(async (...given: Parameters<typeof hub>) => (await import('../hub.ts')).hub(...given));
}

export function addMember(root: Command): void {
  logging(root.command('member'), 'info')
    .description('Run the agent of a member cluster')
    .requiredOption('--name <name>', 'the MemberCluster on the hub')
    .requiredOption('--hub-kubeconfig <file>', "the agent's kubeconfig for the hub, as `join` writes it")
    .option('--hub-context <name>', 'context of that kubeconfig')
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the member (default: $KUBECONFIG, ~/.kube/config, or the Pod it runs in)',
    )
    .option('--context <name>', 'context of that kubeconfig')
    .option(
      '--property-provider <module>',
      'a module that reports more properties of the cluster (docs/property-providers.md), or none (default: none)',
    )
    .option('--health-port <number>', 'serve /healthz, /readyz and /metrics there', port)
    .action(async (...given: Parameters<typeof member>) => (await import('../member.ts')).member(...given));
}

export function addApiserver(root: Command): void {
  serving(root.command('apiserver'))
    .description('Run the embedded Kubernetes API server alone')
    .option('--insecure-http', 'serve plain http as a single administrator, on loopback only')
    .action(async (...given: Parameters<typeof apiserver>) => (await import('../apiserver.ts')).apiserver(...given));
}

export function addPretend(root: Command): void {
  logging(connecting(root.command('pretend')), 'info')
    .description('Simulate nodes for any Kubernetes API server: Pods are scheduled, start, fail or hang there')
    .option('--nodes <number>', 'how many nodes', wholeNumber(0, 1000), 2)
    .option('--name <name>', 'prefix of the node names', 'pretend')
    .option('--pull-seconds <seconds>', 'seconds from the binding of a Pod to its start', wholeNumber(0, 86_400))
    .option('--ready-seconds <seconds>', 'seconds from the start of a Pod to its readiness', wholeNumber(0, 86_400))
    .action(async (...given: Parameters<typeof pretend>) => (await import('../pretend.ts')).pretend(...given));
}
