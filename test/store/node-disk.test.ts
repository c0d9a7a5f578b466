// Real files: who may read them, who may write, and what an unusable directory says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DiskInUse } from '../../src/apiserver/store/disk.ts';
import { type Log, openLog } from '../../src/apiserver/store/log.ts';
import { openNodeDisk } from '../../src/apiserver/store/node-disk.ts';
import { configMap } from './conformance.ts';

let parent: string;
let directory: string;
const logs: Log[] = [];
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'flotilla-store-'));
  directory = join(parent, 'some', 'data');
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  await rm(parent, { recursive: true });
});

const open = async (options = {}) => {
  const log = await openLog({ disk: await openNodeDisk(directory), ...options });
  logs.push(log);
  return log;
};
const fill = async (log: Log, count: number) => {
  const store = log.store('a');
  const writes = Array.from({ length: count }, (_, i) =>
    store.commit({
      key: `/configmaps/shop/n${i}`,
      expect: store.get(`/configmaps/shop/n${i}`, 'head')?.revision ?? 'absent',
      value: configMap(`n${i}`, { x: 'x'.repeat(2000) }),
    }),
  );
  await Promise.all(writes.map((write) => write.durable));
};

describe('a data directory', () => {
  test('is made when missing, and only its owner may look inside', async () => {
    const log = await open();
    await fill(log, 1);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, 'segment-00000001'))).mode & 0o777).toBe(0o600);
  });

  test('holds everything over a restart, and shrinks to its state by snapshots', async () => {
    const log = await open({ snapshotMinBytes: 500_000 });
    for (let round = 0; log.counts().snapshots < 3; round++) {
      expect(round).toBeLessThan(50);
      await fill(log, 300);
    }
    // The next snapshot may be under way: a trickle of writes lets it finish.
    for (let round = 0; (await readdir(directory)).length > 3; round++) {
      expect(round).toBeLessThan(2000);
      await fill(log, 1);
    }
    expect((await readdir(directory)).map((file) => file.split('-')[0])).toEqual(['lock', 'segment', 'snapshot']);
    const objects = log
      .store('a')
      .range('')
      .items.map((stored) => stored.object());
    await log.close();
    const again = await open();
    expect(
      again
        .store('a')
        .range('')
        .items.map((stored) => stored.object()),
    ).toEqual(objects);
    expect(again.counts().parses).toBe(300);
  });

  test('that cannot be used says why in one sentence', async () => {
    await writeFile(join(parent, 'file'), '');
    await expect(openNodeDisk(join(parent, 'file', 'data'))).rejects.toThrow(
      /^cannot use the data directory .*file\/data: ENOTDIR/,
    );
  });
});

describe('the lock', () => {
  test('keeps a second writer of the same process out, and is given back', async () => {
    const log = await open();
    const message = `the data directory ${directory} is in use by process ${process.pid}`;
    await expect(open()).rejects.toThrow(new DiskInUse(message));
    await log.close();
    await open();
  });

  test('keeps out a second process while the first lives, and is taken over when it was killed', async () => {
    const holder = spawn(
      process.execPath,
      [
        '--import',
        'tsx',
        '-e',
        `import('${hrefOf('node-lock.ts')}').then(async (m) => {
         await m.lockDirectory(process.argv[1]); console.log('locked'); setInterval(() => {}, 1000); })`,
        parent,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(holder.stdout, 'data');
    directory = parent;
    await expect(open()).rejects.toThrow(`the data directory ${parent} is in use by process ${holder.pid}`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await open();
    expect(JSON.parse(await readFile(join(parent, 'lock'), 'utf8'))).toMatchObject({ pid: process.pid });
  });

  test.each([
    { it: 'a process that is gone', text: '{"pid":999999999,"started":"unknown"}' },
    { it: 'an earlier process with an id that is in use again', text: `{"pid":${process.pid},"started":"long ago 1"}` },
    { it: 'nobody that can be made out', text: '' },
  ])('of $it is taken over', async ({ text }) => {
    directory = parent;
    await writeFile(join(parent, 'lock'), text);
    await open();
    expect((await readdir(parent)).sort()).toEqual(['lock', 'segment-00000001']);
  });

  test.each(Array.from({ length: 20 }, (_, round) => round))(
    'goes to exactly one of many who find a stale one (%i)',
    async (round) => {
      directory = parent;
      await writeFile(join(parent, 'lock'), '{"pid":999999999,"started":"unknown"}');
      // Somebody died while taking it over.
      if (round % 2 === 1) await writeFile(join(parent, 'lock.stale'), '{"pid":999999998,"started":"unknown"}');
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => open()));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(DiskInUse);
      expect((await readdir(parent)).sort()).toEqual(['lock', 'segment-00000001']);
    },
  );
});

const hrefOf = (file: string) => new URL(`../../src/apiserver/store/${file}`, import.meta.url).href;
