// `flotilla convert`.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { UserError } from '../../base/errors.ts';
import { convert } from '../../cli/convert/convert.ts';
import { whyUnreadable } from '../../cli/server/unreadable.ts';
import { print } from './flags.ts';

export function addConvert(root: Command): void {
  root
    .command('convert')
    .description(
      'Convert a Rancher Fleet fleet.yaml or Bundle to a placement, and GitRepos and ClusterGroups to those of Flotilla',
    )
    .argument('<file>', 'a fleet.yaml, a Bundle, or GitRepos and ClusterGroups; - for standard input')
    .option(
      '--placement <name>',
      'of a fleet.yaml or Bundle: print a whole ClusterResourcePlacement of this name (default: only its strategy)',
    )
    .addHelpText(
      'after',
      `
What cannot be carried over is listed on standard error. Rancher Fleet corrects drift only if correctDrift is enabled; Flotilla corrects it by default,
so correctDrift is written out.

Examples:
  flotilla convert fleet.yaml
  flotilla convert fleet.yaml --placement shop | kubectl apply -f -`,
    )
    .action((file: string, { placement }: { placement?: string }) => {
      const { yaml, left } = convert(textOf(file), file === '-' ? 'standard input' : file, placement);
      for (const each of left) print.warning(each);
      print.line(yaml.trimEnd());
    });
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new UserError('Unreadable', `cannot read ${file}: ${whyUnreadable(cause)}`, { cause });
  }
}
