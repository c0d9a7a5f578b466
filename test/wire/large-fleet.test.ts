// A fleet of more than 50 members: they run in a child process, and whichever of the two dies, nothing stays behind and nothing is lost.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { patience } from '../../scripts/gate/patience.ts';
import { program, run, type Server, startServer } from './server.ts';

const MEMBERS = 51;

const childOf = ({ process: { pid } }: Server): number => Number(execFileSync('pgrep', ['-P', String(pid)]).toString());

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < patience(10_000) / 50 && isAlive(pid); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isAlive(pid)).toBe(false);
}

const flotilla = (server: Server, args: readonly string[], input?: string) =>
  run(process.execPath, [program, ...args, '--kubeconfig', server.kubeconfig], input === undefined ? {} : { input });

test('a large fleet joins from a process of its own, survives kill -9 of either process and leaves none behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-large-'));
  try {
    // The members die: the hub says so and ends.
    const first = await startServer({ command: 'up', folder, args: ['--members', String(MEMBERS)] });
    expect(first.output()).toContain('process of their own');
    const joined = await flotilla(first, ['get', 'memberclusters', '-o', 'json']);
    const { items } = JSON.parse(joined.stdout) as {
      items: { status: { conditions: { type: string; status: string }[] } }[];
    };
    expect(items).toHaveLength(MEMBERS);
    for (const { status } of items) {
      expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Joined', status: 'True' }));
    }
    const note = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'note' }, data: { a: 'b' } });
    for (const context of ['member-1', `member-${MEMBERS}`]) {
      expect(await flotilla(first, ['apply', '-f', '-', '--context', context], note)).toMatchObject({ code: 0 });
    }
    const ended = once(first.process, 'exit');
    process.kill(childOf(first), 'SIGKILL');
    expect(await ended).toEqual([1, null]);
    expect(first.output()).toContain('the process of the members was ended by SIGKILL, so the hub was stopped as well');

    // The hub dies: the members follow it. All data is found again.
    const second = await startServer({ command: 'up', folder });
    const read = ['get', 'configmaps', 'note', '-o', 'json', '--context'];
    const found = await flotilla(second, [...read, `member-${MEMBERS}`]);
    expect(JSON.parse(found.stdout)).toMatchObject({ data: { a: 'b' } });
    const orphan = childOf(second);
    await second.stop('SIGKILL');
    await gone(orphan);

    // Both end when they are told to.
    const third = await startServer({ command: 'up', folder });
    const last = childOf(third);
    expect(await third.stop('SIGTERM')).toBe(0);
    expect(isAlive(last)).toBe(false);
    expect(third.output()).not.toContain('error');

    // A fleet that became small has its members in the hub's process, with the same data.
    await using fourth = await startServer({ command: 'up', folder, args: ['--members', '2'] });
    expect(fourth.output()).not.toContain('process of their own');
    const kept = await flotilla(fourth, [...read, 'member-1']);
    expect(JSON.parse(kept.stdout)).toMatchObject({ data: { a: 'b' } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
