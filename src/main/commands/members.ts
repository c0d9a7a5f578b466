// `flotilla members`, `flotilla taint`, `flotilla untaint` and `flotilla leave`.
import { type Command, Option } from 'commander';
import { wallClock } from '../../base/clock.ts';
import { leave } from '../../cli/members/leave.ts';
import { showMember, showMembers } from '../../cli/members/show-members.ts';
import { parsePattern, parseTaint, taint, untaint } from '../../cli/members/taint.ts';
import { type ConnectOptions, connect } from '../../cli/server/connect.ts';
import { firstSignal } from '../signals.ts';
import { type AskOptions, duration, hubCommand, outputOption, print, toHub } from './flags.ts';

const FIVE_MINUTES = 5 * 60_000;

export function addMembers(root: Command): void {
  hubCommand(root.command('members'))
    .description('Show the members of the fleet: health, last heartbeat, size, taints, what is placed there')
    .argument('[name]', 'show one member in detail')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
CPU and MEMORY are available of allocatable; PLACED is available of all placements on the cluster.

Exit codes:
  0  every member shown is ready
  1  failed: no such member, API server unreachable, or access denied
  2  a member is unhealthy, unreachable, joining or leaving

Examples:
  flotilla members
  flotilla members member-1
  flotilla members -o json`,
    )
    .action(async (name: string | undefined, options: AskOptions) => {
      const { output, ...connection } = options;
      using server = await connect(toHub(connection));
      const look = { clock: wallClock, ...(output === undefined ? {} : { output }) };
      process.exitCode =
        name === undefined ? await showMembers(server, look, print) : await showMember(server, name, look, print);
    });
}

export function addTaint(root: Command): void {
  hubCommand(root.command('taint'))
    .description('Keep new placements away from a member')
    .argument('<member>', 'name of the MemberCluster')
    .argument('<taints...>', 'KEY[=VALUE]:NoSchedule')
    .option('--overwrite', 'replace a taint of the same key with another value')
    .addHelpText(
      'after',
      `
Placements that tolerate all taints of a member may still be scheduled to it. Objects that are already placed there stay; "flotilla drain" removes them.

Examples:
  flotilla taint member-1 maintenance=soon:NoSchedule
  flotilla untaint member-1 maintenance`,
    )
    .action(async (member: string, texts: readonly string[], options: ConnectOptions & { overwrite?: boolean }) => {
      const { overwrite = false, ...connection } = options;
      const taints = texts.map(parseTaint);
      using server = await connect(toHub(connection));
      await taint(server, member, taints, { overwrite }, print);
    });
  hubCommand(root.command('untaint'))
    .description('Remove taints from a member')
    .argument('<member>', 'name of the MemberCluster')
    .argument('<taints...>', 'KEY or KEY=VALUE; the effect may follow')
    .action(async (member: string, texts: readonly string[], options: ConnectOptions) => {
      const patterns = texts.map(parsePattern);
      using server = await connect(toHub(options));
      await untaint(server, member, patterns, print);
    });
}

interface LeaveFlags extends ConnectOptions {
  readonly purge?: boolean;
  readonly wait: boolean;
  readonly timeout?: number;
}

export function addLeave(root: Command): void {
  hubCommand(root.command('leave'))
    .description('Remove a member from the fleet, and report the progress')
    .argument('<member>', 'name of the MemberCluster')
    .addOption(new Option('--keep', 'placed objects keep running on the cluster (the default)').conflicts('purge'))
    .option('--purge', 'delete the placed objects from the cluster first')
    .option('--no-wait', 'return at once')
    .option('--timeout <duration>', 'stop waiting after this time; the member still leaves (default: 5m)', duration)
    .addHelpText(
      'after',
      `
The identity that "flotilla join" created is revoked at the end. If the agent does not respond, the hub removes the member after its
--force-delete-wait-time; objects that the agent has not removed by then stay on the cluster.

Exit codes:
  0  the member has left, or --no-wait was given
  1  failed: no such member, API server unreachable, or access denied
  2  it has not left yet

Examples:
  flotilla leave member-3
  flotilla leave member-3 --purge --timeout 15m`,
    )
    .action(async (member: string, options: LeaveFlags) => {
      const { purge = false, wait, timeout = FIVE_MINUTES, ...connection } = options;
      using server = await connect(toHub(connection));
      const stop = new AbortController();
      void firstSignal().then(() => stop.abort());
      process.exitCode = await leave(
        server,
        { cluster: member, purge, clock: wallClock, signal: stop.signal, ...(wait ? { timeoutMs: timeout } : {}) },
        print,
      );
    });
}
