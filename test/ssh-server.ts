// A repository over ssh for tests, without a server: a program `ssh` that understands its options, the key and the known hosts by means of
// OpenSSH, and then runs what git asks for on this machine.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface SshServer {
  readonly url: string;
  /** `user@host:path` */
  readonly shortUrl: string;
  /** PATH with this ssh before the real one. */
  readonly path: string;
  readonly credentials: { readonly type: 'ssh'; readonly privateKey: string; readonly knownHosts: string };
  runs(): readonly SshRun[];
}

export interface SshRun {
  readonly args: string;
  readonly env: string;
  /** Arguments of the processes between the test and ssh; empty where there is no /proc. */
  readonly parents: string;
  /** The options as OpenSSH understands them. */
  readonly settings: Readonly<Record<string, string>>;
}

const HOST = 'git.example.com';
const PORT = 2222;

export function anSshServer({ root, repository }: { readonly root: string; readonly repository: string }): SshServer {
  const [bin, log] = [join(root, 'bin'), join(root, 'log')];
  for (const folder of [bin, log]) mkdirSync(folder, { recursive: true });
  const keyNamed = (name: string) => {
    const file = join(root, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
    const [type, key] = readFileSync(`${file}.pub`, 'utf8').split(' ');
    return { secret: readFileSync(file, 'utf8'), line: `${type} ${key}` };
  };
  const [user, host] = [keyNamed('user'), keyNamed('host')];
  writeFileSync(join(bin, 'ssh'), PROGRAM.replaceAll('TEST_PID', String(process.pid)), { mode: 0o700 });
  const read = (...names: string[]): string => {
    const file = join(log, ...names);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  return {
    url: `ssh://git@${HOST}:${PORT}${repository}`,
    shortUrl: `git@${HOST}:${repository}`,
    path: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    credentials: {
      type: 'ssh',
      privateKey: user.secret,
      knownHosts: `[${HOST}]:${PORT},${HOST} ${host.line}`,
    },
    runs: () =>
      readdirSync(log).map((run) => ({
        args: read(run, 'args'),
        env: read(run, 'env'),
        parents: read(run, 'parents'),
        settings: Object.fromEntries(
          read(run, 'settings')
            .split('\n')
            .map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]),
        ) as Readonly<Record<string, string>>,
      })),
  };
}

const PROGRAM = String.raw`#!/bin/sh
bin=$(dirname "$0")
root=$bin/..
PATH=$(printf '%s' "$PATH" | tr : '\n' | grep -vxF "$bin" | paste -sd: -)
run=$(mktemp -d "$root/log/run-XXXXXX") || exit 255
printf '%s\n' "$@" > "$run/args"
env > "$run/env"
pid=$PPID
while [ "$pid" != TEST_PID ] && [ "$pid" -gt 1 ] && [ -r "/proc/$pid/cmdline" ]; do
  { tr '\0' ' ' < "/proc/$pid/cmdline"; echo; } >> "$run/parents"
  pid=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f2)
done
ssh -G "$@" > "$run/settings" || exit 255
setting() { sed -n "s/^$1 //p" "$run/settings"; }
name=$(setting hostname)
[ "$(setting port)" = 22 ] || name="[$name]:$(setting port)"
known=$(ssh-keygen -F "$name" -f "$(setting userknownhostsfile)" | grep -v '^#' | cut -d' ' -f2,3)
if [ "$known" != "$(cut -d' ' -f1,2 "$root/host.pub")" ]; then
  echo 'Host key verification failed.' >&2
  exit 255
fi
# Like ssh, this does not read a key that others can read.
if [ "$(ssh-keygen -y -P '' -f "$(setting identityfile)" | cut -d' ' -f1,2)" != "$(cut -d' ' -f1,2 "$root/user.pub")" ]; then
  echo 'git@host: Permission denied (publickey).' >&2
  exit 255
fi
while [ "$1" != "git@git.example.com" ]; do shift; done
shift
exec sh -c "$*"
`;
