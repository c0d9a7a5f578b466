// All commands and their flags. Only wiring: what a command does stands in its own file.
import { Command, InvalidArgumentError } from 'commander';
import { UserError } from '../base/errors.ts';
import { apply } from '../cli/apply.ts';
import { type ConnectOptions, connect } from '../cli/connect.ts';
import { crds } from '../cli/crds.ts';
import { deleteManifests, deleteNamed } from '../cli/delete.ts';
import { describe } from '../cli/describe.ts';
import { type GetOptions, get } from '../cli/get.ts';
import { readManifests } from '../cli/manifests.ts';
import type { Print } from '../cli/target.ts';
import { apiserver } from './apiserver.ts';
import { VERSION } from './version.ts';

const print: Print = {
  line: (text) => console.log(text),
  warning: (text) => console.error(`Warning: ${text}`),
  error: (text) => console.error(`error: ${text}`),
};

export function program(name: string): Command {
  const root = new Command(name)
    .description('Ships changes to every Kubernetes cluster of a fleet, safely.')
    .version(VERSION)
    .showHelpAfterError('(add --help for what can be given)');
  addApiserver(root);
  root
    .command('crds')
    .description('print the CustomResourceDefinitions of all Flotilla kinds as YAML')
    .option('--next', 'print those of placement.kubefleet.dev as well, which are not installed by default')
    .action((options: { next?: boolean }) => print.line(crds(options).trimEnd()));
  addApply(root);
  addGet(root);
  addDescribe(root);
  addDelete(root);
  return root;
}

function addApiserver(root: Command): void {
  root
    .command('apiserver')
    .description('run the embedded Kubernetes API server')
    .option('--data-dir <dir>', 'where data, keys and the kubeconfig are kept', '.flotilla')
    .option('--in-memory', 'keep nothing: all is gone when it stops')
    .option('--port <number>', 'port on 127.0.0.1; 0 = any free one', port, 6443)
    .option('--kubeconfig <file>', 'where to write the kubeconfig (default: kubeconfig in the data directory)')
    .option('--insecure-http', 'serve plain http as a single administrator, on loopback only')
    .action(apiserver);
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('a port is 0 to 65535');
  return value;
}

const connecting = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace to work in');

function addApply(root: Command): void {
  connecting(root.command('apply'))
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
  connecting(root.command('get'))
    .description('show objects')
    .argument('<kind>', 'plural, singular or short name, perhaps with its group: crp, pods, deployments.apps')
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
  connecting(root.command('describe'))
    .description('show all about one object and what happened to it')
    .argument('<kind>')
    .argument('<name>')
    .action(async (kind: string, name: string, options: ConnectOptions) => {
      using server = await connect(options);
      await describe(server, kind, name, print);
    });
}

function addDelete(root: Command): void {
  connecting(root.command('delete'))
    .description('delete objects by name or by manifest')
    .argument('[kind]')
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
