// Flags that commands share, their parsers, and where commands print to.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { parseDuration } from '../../base/duration.ts';
import { UserError } from '../../base/errors.ts';
import type { ConnectOptions } from '../../cli/server/connect.ts';
import type { Print } from '../../cli/server/target.ts';
import { OUTPUTS } from '../../cli/terminal/output.ts';
import { COLOR_MODES, type ColorMode, type Paint, paintFor, plain } from '../../cli/terminal/paint.ts';
import type { ShowOptions } from '../../cli/terminal/showing.ts';
import { terminalOn } from '../../cli/terminal/terminal.ts';
import { firstSignal } from '../signals.ts';

let paint: Paint = plain;

/** Called once, before a command runs. */
export const usePaint = (mode: ColorMode = 'auto'): void => {
  paint = paintFor(mode, process.stdout.isTTY, process.env['NO_COLOR']);
};

export const print: Print = {
  line: (text) => console.log(paint(text)),
  warning: (text) => console.error(`Warning: ${text}`),
  error: (text) => console.error(`error: ${text}`),
};

export function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('a port is 0 to 65535');
  return value;
}

export const connecting = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig');

export const inNamespace = (command: Command): Command =>
  connecting(command).option('-n, --namespace <name>', 'namespace to work in');

/** Flags for the hub, which is not necessarily the current context: the kubeconfig of a fleet has many. */
export const hubCommand = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: "hub" if there is one, else the current one)');

export const asking = (command: Command, what = 'placement/NAME', argument = '<what>'): Command =>
  hubCommand(command)
    .argument(argument, what)
    .option(
      '-n, --namespace <name>',
      'namespace of the object (default: cluster-scoped kinds, such as ClusterResourcePlacement)',
    )
    .addOption(outputOption())
    .addOption(colorOption());

export const colorOption = (): Option =>
  new Option('--color <when>', 'color the states (auto: on a terminal, unless NO_COLOR is set)')
    .choices(COLOR_MODES)
    .default('auto');

export const outputOption = (): Option =>
  new Option('-o, --output <form>', 'yaml or json for programs, wide for more columns').choices(OUTPUTS);

export type AskOptions = ConnectOptions & { readonly output?: string };

export const toHub = (options: ConnectOptions): ConnectOptions => ({ ...options, usualContext: 'hub' });

export type WatchOptions = AskOptions & { readonly watch?: boolean; readonly timeout?: number };

export function showing({ output, watch, timeout }: WatchOptions): ShowOptions {
  if (timeout !== undefined && !watch) throw new UserError('BadFlag', '--timeout needs --watch');
  const stop = new AbortController();
  if (watch) void firstSignal().then(() => stop.abort());
  const terminal = terminalOn(process.stdout, paint);
  return {
    clock: wallClock,
    signal: stop.signal,
    ...(output === undefined ? {} : { output }),
    ...(watch ? { watch } : {}),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(terminal === undefined ? {} : { terminal }),
  };
}

export function duration(text: string): number {
  const ms = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('a duration such as 90s or 10m is expected');
  return ms;
}
