// The generic client commands, for objects of any kind.
import type { Command } from 'commander';
import { UserError } from '../../base/errors.ts';
import { apply } from '../../cli/objects/apply.ts';
import { deleteManifests, deleteNamed } from '../../cli/objects/delete.ts';
import { describe } from '../../cli/objects/describe.ts';
import { type GetOptions, get } from '../../cli/objects/get.ts';
import { readManifests } from '../../cli/objects/manifests.ts';
import { type ConnectOptions, connect } from '../../cli/server/connect.ts';
import { inNamespace, print } from './flags.ts';

const KIND = 'plural, singular or short name, perhaps with its group: crp, pods, deployments.apps';

export function addApply(root: Command): void {
  inNamespace(root.command('apply'))
    .description('Create or change the objects of manifests')
    .requiredOption('-f, --filename <path...>', 'files or folders of YAML or JSON; - for standard input')
    .option('--dry-run', 'let the server check everything and store nothing')
    .action(async (options: ConnectOptions & { filename: string[]; dryRun?: boolean }) => {
      const manifests = readManifests(options.filename);
      if (manifests.length === 0) throw new UserError('ManifestInvalid', 'the files of -f contain no objects');
      using server = await connect(options);
      if ((await apply(server, manifests, options, print)) > 0) process.exitCode = 1;
    });
}

export function addGet(root: Command): void {
  inNamespace(root.command('get'))
    .description('Show objects')
    .argument('<kind>', KIND)
    .argument('[names...]')
    .option('-o, --output <form>', 'wide, yaml, json or name')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields')
    .option('-A, --all-namespaces', 'in all namespaces')
    .action(async (kind: string, names: string[], options: ConnectOptions & GetOptions) => {
      if (options.output !== undefined && !['wide', 'yaml', 'json', 'name'].includes(options.output)) {
        throw new UserError('BadFlag', `output format "${options.output}" is unknown: use wide, yaml, json or name`);
      }
      using server = await connect(options);
      await get(server, kind, names, options, print);
    });
}

export function addDescribe(root: Command): void {
  inNamespace(root.command('describe'))
    .description('Show the details of one object and its Events')
    .argument('<kind>', KIND)
    .argument('<name>')
    .action(async (kind: string, name: string, options: ConnectOptions) => {
      using server = await connect(options);
      await describe(server, kind, name, print);
    });
}

export function addDelete(root: Command): void {
  inNamespace(root.command('delete'))
    .description('Delete objects by name or by manifest')
    .argument('[kind]', KIND)
    .argument('[names...]')
    .option('-f, --filename <path...>', 'files or folders of YAML or JSON; - for standard input')
    .action(async (kind: string | undefined, names: string[], options: ConnectOptions & { filename?: string[] }) => {
      const manifests = options.filename ? readManifests(options.filename) : [];
      if (manifests.length === 0 && (kind === undefined || names.length === 0)) {
        throw new UserError('BadFlag', 'specify what to delete: a kind and names, or -f');
      }
      using server = await connect(options);
      const refused =
        kind === undefined
          ? await deleteManifests(server, manifests, print)
          : await deleteNamed(server, kind, names, print);
      if (refused > 0) process.exitCode = 1;
    });
}
