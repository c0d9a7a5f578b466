// `flotilla explain CODE` and shell completion.
import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import { type Completed, namesFor } from '../../cli/complete.ts';
import { readText } from '../../cli/server/connect.ts';
import { explainCode } from '../../cli/why/explain-code.ts';
import { print, toHub } from './flags.ts';

/** The path is the same from the sources and from the built program. */
const HOLDS_PAGE = join(import.meta.dirname, '../../../docs/holds.md');

export function addExplain(root: Command): void {
  root
    .command('explain')
    .description('Explain a hold code, such as BudgetUsed')
    .argument('<code>', 'as `why` and status.holds name it')
    .action((code: string) => print.line(explainCode(readText(HOLDS_PAGE, 'page'), code)));
}

const COMPLETE = '__complete';

const SCRIPTS = {
  bash: `_flotilla() {
  local IFS=$'\\n'
  COMPREPLY=($(flotilla ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -F _flotilla flotilla`,
  zsh: `#compdef flotilla
_flotilla() {
  local -a found
  found=("\${(@f)$(flotilla ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _flotilla flotilla`,
  fish: `complete -c flotilla -f -a '(flotilla ${COMPLETE} -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
} as const;

type Shell = keyof typeof SCRIPTS;

export function addCompletion(root: Command): void {
  root
    .command('completion')
    .description('Print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  source <(flotilla completion bash)
  flotilla completion fish > ~/.config/fish/completions/flotilla.fish`,
    )
    .action((shell: Shell) => print.line(SCRIPTS[shell]));
  root
    .command(COMPLETE, { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      for (const word of await completions(root, words)) print.line(word);
    });
}

/** The kind of each command's first argument. */
const NAMED: Readonly<Record<string, readonly Completed[]>> = {
  status: ['placement', 'run'],
  why: ['placement', 'run'],
  overrides: ['placement'],
  history: ['placement'],
  rollback: ['placement'],
  approve: ['run'],
  reject: ['run'],
  run: ['run'],
  show: ['run'],
  start: ['run'],
  stop: ['run'],
  resume: ['run'],
  create: ['placement'],
  pause: ['placement'],
  plan: ['placement'],
  drain: ['cluster'],
  members: ['cluster'],
  taint: ['cluster'],
  untaint: ['cluster'],
  leave: ['cluster'],
  uncordon: ['cluster'],
  unfreeze: ['freeze'],
};

export async function completions(
  root: Command,
  words: readonly string[],
  names: typeof namesFor = namesFor,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  let command = root;
  for (const word of before) command = command.commands.find((each) => each.name() === word) ?? command;
  const help = command.createHelp();
  const fitting = (found: readonly string[]) => found.filter((each) => each.startsWith(current));
  if (current.startsWith('-'))
    return fitting(help.visibleOptions(command).map(({ long, short }) => long ?? short ?? ''));
  const flag = (...flags: readonly string[]) => {
    const at = before.findLastIndex((word) => flags.includes(word));
    return at < 0 ? undefined : before[at + 1];
  };
  const [namespace, kubeconfig, context] = [flag('-n', '--namespace'), flag('--kubeconfig'), flag('--context')];
  const options = toHub({
    ...(namespace === undefined ? {} : { namespace }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  if (before.at(-1) === '--placement') return fitting(await names(['placement'], options));
  if (before.at(-1) === '--cluster') return fitting(await names(['cluster'], options));
  const commands = command.commands.length === 0 ? [] : help.visibleCommands(command).map((each) => each.name());
  // `resume` takes a placement, and `run resume` takes a run.
  const isTop = command.parent === root;
  const kinds: readonly Completed[] | undefined =
    isTop && command.name() === 'resume' ? ['placement'] : NAMED[command.name()];
  return fitting([...commands, ...(kinds === undefined ? [] : await names(kinds, options))]);
}
