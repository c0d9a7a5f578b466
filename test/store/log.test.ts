// The log store: the conformance suite on a pretend and on a real disk, and what only a durable store promises.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeDisk } from '../../src/apiserver/store/fake-disk.ts';
import { openLog } from '../../src/apiserver/store/log.ts';
import { openNodeDisk } from '../../src/apiserver/store/node-disk.ts';
import { describeStore } from './conformance.ts';

describeStore({
  name: 'log (pretend disk)',
  open: async (options) => {
    const log = await openLog({ ...options, disk: new FakeDisk() });
    return { store: (cluster = 'a') => log.store(cluster), close: () => log.close() };
  },
});

describeStore({
  name: 'log (real disk)',
  open: async (options) => {
    const directory = await mkdtemp(join(tmpdir(), 'flotilla-store-'));
    const log = await openLog({ ...options, disk: await openNodeDisk(directory) });
    return {
      store: (cluster = 'a') => log.store(cluster),
      close: async () => {
        await log.close();
        await rm(directory, { recursive: true });
      },
    };
  },
});
