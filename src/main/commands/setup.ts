// Commands that prepare a hub and its members: CRDs, roles, policies, identities.
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Labels } from '../../api/object.ts';
import { join } from '../../cli/join/join.ts';
import { revoke } from '../../cli/join/revoke.ts';
import { type ConnectOptions, connect, findConnection } from '../../cli/server/connect.ts';
import { CRD_TARGETS, type CrdTarget, crds } from '../../cli/setup/crds.ts';
import { policies } from '../../cli/setup/policies.ts';
import { ROLE_TARGETS, type RoleTarget, roles } from '../../cli/setup/roles.ts';
import { wholeNumber } from '../whole-number.ts';
import { connecting, duration, print } from './flags.ts';

export function addCrds(root: Command): void {
  root
    .command('crds')
    .description('Print the CustomResourceDefinitions of all Flotilla kinds as YAML')
    .addArgument(
      new Argument('[for]', 'hub or member: only the CRDs of that cluster (default: all)').choices(CRD_TARGETS),
    )
    .action((target: CrdTarget | undefined) => print.line(crds(target === undefined ? {} : { target }).trimEnd()));
}

export function addRoles(root: Command): void {
  root
    .command('roles')
    .description('Print an identity with the least rights that it needs, or roles for people, as YAML')
    .addArgument(
      new Argument(
        '<for>',
        "hub: of the hub's controllers; hub-status: lets them write statuses of placed objects; hub-networking: lets them give rights to networking agents; member: of an agent on its own cluster; people: on the hub, for teams and approvers",
      ).choices(ROLE_TARGETS),
    )
    .addHelpText(
      'after',
      `
Roles for people are ClusterRoles. flotilla-view, flotilla-edit and flotilla-admin are aggregated into view, edit and admin of
Kubernetes and need no binding of their own. Bind the others:
  kubectl create rolebinding approvers --clusterrole=flotilla-approver --group=leads -n team
  kubectl create clusterrolebinding approvers --clusterrole=flotilla-cluster-approver --group=leads`,
    )
    .action((target: RoleTarget) => print.line(roles(target).trimEnd()));
}

export function addPolicies(root: Command): void {
  root
    .command('policies')
    .description('Print the admission policy that prevents placed workloads from running on the hub, as YAML')
    .option(
      '--reserved-namespace-prefixes <prefixes...>',
      'namespaces with these prefixes may contain Pods (default: fleet- and kube-)',
    )
    .addHelpText(
      'after',
      `
To opt out, do not apply it, or delete the ValidatingAdmissionPolicyBinding: placed workloads then create Pods on the hub, too.`,
    )
    .action((options: { reservedNamespacePrefixes?: string[] }) => print.line(policies(options).trimEnd()));
}

export function addJoin(root: Command): void {
  connecting(root.command('join'))
    .description('Create an identity for a member on the hub, and a kubeconfig for its agent')
    .argument('<name>', 'the name of the member')
    .option('-l, --labels <labels>', 'labels of the member: key=value,key=value', labels)
    .option('--heartbeat-period-seconds <seconds>', 'how often its agent sends a heartbeat', wholeNumber(1, 600))
    .option('-o, --output <file>', "file for the agent's kubeconfig (default: <name>.kubeconfig)")
    .option('--token-lifetime <duration>', 'how long its token is valid; the agent renews it (default: 168h)', lifetime)
    .addOption(
      new Option('--long-lived-token', 'a token Secret that does not expire, for agents that cannot renew').conflicts(
        'tokenLifetime',
      ),
    )
    .option('--revoke', 'revoke the identity of the member now: all its tokens stop working')
    .action(
      async (
        name: string,
        options: ConnectOptions & {
          labels?: Labels;
          heartbeatPeriodSeconds?: number;
          output?: string;
          revoke?: boolean;
          tokenLifetime?: number;
          longLivedToken?: boolean;
        },
      ) => {
        using server = await connect(options);
        if (options.revoke) {
          await revoke(server, name, print);
          return;
        }
        await join(
          server,
          findConnection(options),
          name,
          {
            labels: options.labels ?? {},
            output: options.output ?? `${name}.kubeconfig`,
            ...(options.heartbeatPeriodSeconds === undefined
              ? {}
              : { heartbeatPeriodSeconds: options.heartbeatPeriodSeconds }),
            ...(options.tokenLifetime === undefined ? {} : { tokenLifetimeMs: options.tokenLifetime }),
            ...(options.longLivedToken ? { longLivedToken: true } : {}),
          },
          print,
        );
      },
    );
}

const TEN_MINUTES = 10 * 60_000;
const YEAR = 365 * 24 * 3_600_000;

function lifetime(text: string): number {
  const ms = duration(text);
  if (ms < TEN_MINUTES || ms > YEAR) throw new InvalidArgumentError('a lifetime is 10m to 8760h');
  return ms;
}

function labels(text: string): Labels {
  const pairs = text.split(',').map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair[0] === '')) {
    throw new InvalidArgumentError('labels are key=value, separated by commas');
  }
  return Object.fromEntries(pairs) as Labels;
}
