// The members of a large fleet run in a child process and reach the hub over https: this uses a second core and the
// real protocol.
//
// This file is the parent's side, members-command.ts the child's. They communicate over the IPC channel of Node. A
// closed channel means that the other process has exited: if the hub dies, its members exit; if the members die, the
// hub exits with an error, because a fleet without members is not what was asked for, and the same command restarts
// everything.
import { fork } from 'node:child_process';
import { UserError } from '../base/errors.ts';
import type { Keys } from './embedded.ts';
import type { FleetMember } from './fleet.ts';
import type { ListenFlags } from './listen-at.ts';
import type { LogLevel } from './log.ts';

/** Sent first: the servers do not need the hub, so they start while the hub creates their identities. */
export interface ServeOrder extends ListenFlags {
  readonly order: 'serve';
  readonly fleet: readonly FleetMember[];
  readonly dataDir: string;
  readonly inMemory: boolean;
  readonly port: number;
  readonly keys: Keys | undefined;
  readonly logLevel: LogLevel;
}

export interface AgentsOrder {
  readonly order: 'agents';
  readonly hub: { readonly server: string; readonly ca: string };
  /** By member. */
  readonly tokens: Readonly<Record<string, string>>;
}

export type Order = ServeOrder | AgentsOrder | { readonly order: 'stop' };
export type Report = { readonly listening: number } | { readonly failed: string };

/** Internal; `flotilla members` is another command. */
export const MEMBERS_COMMAND = '__members';
const STOP_PATIENCE_MS = 20_000;

export interface MembersProcess extends AsyncDisposable {
  /** The port of the members' API servers. */
  readonly port: Promise<number>;
  /** Rejects with an error if the process exits before it is asked to. Never resolves. */
  readonly failed: Promise<never>;
  startAgents(order: Omit<AgentsOrder, 'order'>): void;
}

export function startMembersProcess(order: Omit<ServeOrder, 'order'>): MembersProcess {
  const child = fork(process.argv[1] as string, [MEMBERS_COMMAND], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const tell = (what: Order) => void (child.connected && child.send(what, () => {}));
  let isStopping = false;
  let told: string | undefined;
  let fail: (error: Error) => void = () => {};
  let listening: (port: number) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  const port = new Promise<number>((resolve) => {
    listening = resolve;
  });
  child.on('message', (report: Report) => {
    if ('failed' in report) told = report.failed;
    else listening(report.listening);
  });
  child.once('error', (cause) => fail(new UserError('MembersEnded', `cannot start the members: ${cause.message}`)));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!isStopping) fail(new UserError('MembersEnded', told ?? ending(code, signal, order.inMemory)));
      resolve();
    });
  });
  tell({ order: 'serve', ...order });
  return {
    port: Promise.race([port, failed]),
    failed,
    startAgents: (agents) => tell({ order: 'agents', ...agents }),
    async [Symbol.asyncDispose]() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
      tell({ order: 'stop' });
      await ended;
      clearTimeout(impatience);
    },
  };
}

function ending(code: number | null, signal: NodeJS.Signals | null, inMemory: boolean): string {
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  const data = inMemory ? '' : ', with all data';
  return `the process of the members was ended ${how}, so the hub was stopped as well; the same command starts both again${data}`;
}
