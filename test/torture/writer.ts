// The process that is killed: writes to a log as fast as it can and tells, for each write that became visible, what it was.
// Standard output, one line each: `open <cluster> <revision>` at the start, then `<cluster> <key> <revision> <nonce>`, nonce '-' for a deletion.
import { writeSync } from 'node:fs';
import { openLog } from '../../src/apiserver/store/log.ts';
import { openNodeDisk } from '../../src/apiserver/store/node-disk.ts';
import { seededRandom } from '../../src/base/random.ts';

const [directory = '', seed = '0'] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const pick = (count: number) => Math.floor(random.next() * count);

const log = await openLog({ disk: await openNodeDisk(directory), snapshotMinBytes: 1024 * 1024 });
const stores = ['hub', 'east', 'west'].map((name) => ({ name, store: log.store(name) }));

// Straight to the pipe: what was told is with the parent, whatever happens to this process next.
let lines: string[] = [];
function tell(line: string): void {
  if (lines.push(line) > 1) return;
  queueMicrotask(() => {
    let bytes = Buffer.from(lines.join(''));
    lines = [];
    while (bytes.length > 0) bytes = bytes.subarray(written(bytes));
  });
}
function written(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}

for (const { name, store } of stores) tell(`open ${name} ${store.visible}\n`);

let count = 0;
async function write(): Promise<never> {
  for (;;) {
    const { name, store } = stores[pick(stores.length)]!;
    const key = `/configmaps/shop/n${pick(300)}`;
    const current = store.get(key, 'head');
    const deletes = current !== undefined && random.next() < 0.15;
    const nonce = `${seed}.${count++}`;
    const { revision, durable } = store.commit({
      key,
      expect: current?.revision ?? 'absent',
      value: deletes
        ? undefined
        : {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: key, namespace: 'shop' },
            data: { nonce, filling: 'x'.repeat(pick(4000)) },
          },
    });
    await durable;
    tell(`${name} ${key} ${revision} ${deletes ? '-' : nonce}\n`);
  }
}
await Promise.all(Array.from({ length: 64 }, write));
