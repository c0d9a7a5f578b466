// One measurement of the built log store in a process of its own. node [--expose-gc] store-worker.mjs TASK DIRECTORY COUNT

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openLog } from '../dist/apiserver/store/log.js';
import { openNodeDisk } from '../dist/apiserver/store/node-disk.js';
import { configMap, keyOf } from './baseline/store-objects.mjs';

const [task, directory] = process.argv.slice(2);
const count = Number(process.argv[4]);
const open = async (options = {}) => openLog({ disk: await openNodeDisk(directory), ...options });
const timed = async (run) => {
  const begun = performance.now();
  const value = await run();
  return { value, ms: performance.now() - begun };
};

async function write(log, from, to, writers = 64) {
  const store = log.store('hub');
  let next = from;
  const writer = async () => {
    while (next < to) {
      const n = next++;
      const expect = store.get(keyOf(n), 'head')?.revision ?? 'absent';
      await store.commit({ key: keyOf(n), expect, value: configMap(n) }).durable;
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

const tasks = {
  /** Objects for the other tasks, in the log (all in one segment, which takes longer to open than a snapshot) and as JSON lines. */
  async fill() {
    const log = await open({ snapshotMinBytes: 1e12 });
    await write(log, 0, count, 512);
    const lines = createWriteStream(join(directory, 'objects.jsonl'));
    let bytes = 0;
    for (const stored of log.store('hub').range('').items) {
      bytes += stored.bytes().length;
      if (!lines.write(`${Buffer.from(stored.bytes()).toString()}\n`)) await once(lines, 'drain');
    }
    lines.end();
    await once(lines, 'finish');
    await log.close();
    return { bytes };
  },

  async reopen() {
    const { value: log, ms } = await timed(() => open());
    const found = log.store('hub').range('').items.length;
    globalThis.gc?.();
    const rss = process.memoryUsage().rss;
    await log.close();
    return { ms, rss, count: found };
  },

  async commit() {
    const log = await open();
    await write(log, 0, 2000);
    const { ms } = await timed(() => write(log, 0, count));
    const { records, syncs } = log.counts();
    await log.close();
    return { perSecond: (count / ms) * 1000, perSync: records / syncs };
  },

  /** Microseconds of work in the process, without waiting for the disk, at this size. */
  async size() {
    const log = await open({ snapshotMinBytes: 1e12 });
    await write(log, 0, count, 512);
    const store = log.store('hub');
    const rounds = 2000;
    const commits = Array.from({ length: rounds }, (_, i) => (i * 7919) % count);
    const values = commits.map(configMap);
    const durables = [];
    const commit = await timed(() => {
      commits.forEach((n, i) => {
        durables.push(
          store.commit({ key: keyOf(n), expect: store.get(keyOf(n), 'head').revision, value: values[i] }).durable,
        );
      });
    });
    await Promise.all(durables);
    const range = await timed(() => {
      for (const n of commits) store.range('/configmaps/', { after: keyOf(n), limit: 100 });
    });
    const since = await timed(() => {
      for (const n of commits) store.since(store.visible - 100, `/configmaps/team-${n % 100}/`);
    });
    await log.close();
    const us = ({ ms }) => (ms / rounds) * 1000;
    return { commit: us(commit), range: us(range), since: us(since) };
  },

  /** How long the event loop is held while everything is written down, under a trickle of writes. */
  async snapshot() {
    const log = await open({ snapshotMinBytes: 1 });
    globalThis.gc?.();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const begun = performance.now();
    delay.enable();
    for (let n = 0; log.counts().snapshots === 0; n++) await write(log, n % count, (n % count) + 1, 1);
    delay.disable();
    const ms = performance.now() - begun;
    await log.close();
    return { ms, p99: delay.percentile(99) / 1e6 - 1, max: delay.max / 1e6 - 1 };
  },
};

process.send({ result: await tasks[task]() });
