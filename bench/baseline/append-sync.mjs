// The least that a durable write can cost: 64 writers, each puts one JSON line into the batch that gathers, one synchronous write
// acknowledges it. No index, no checksum, no history, nothing to read back. node append-sync.mjs FILE WRITES WRITERS
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { configMap } from './store-objects.mjs';

const [file, writes, writers] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const { O_WRONLY, O_CREAT, O_TRUNC, O_DSYNC = 0 } = constants;
const handle = await open(file, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC);
let gathering;
let flushing = false;

function append(bytes) {
  gathering ??= newBatch();
  gathering.chunks.push(bytes);
  if (!flushing) {
    flushing = true;
    setImmediate(flush);
  }
  return gathering.durable;
}

function newBatch() {
  const batch = { chunks: [] };
  batch.durable = new Promise((resolve) => {
    batch.resolve = resolve;
  });
  return batch;
}

async function flush() {
  while (gathering !== undefined) {
    const batch = gathering;
    gathering = undefined;
    await handle.write(Buffer.concat(batch.chunks));
    if (O_DSYNC === 0) await handle.datasync();
    batch.resolve();
  }
  flushing = false;
}

let next = 0;
async function writer() {
  while (next < writes) await append(Buffer.from(`${JSON.stringify(configMap(next++))}\n`));
}

const begun = performance.now();
await Promise.all(Array.from({ length: writers }, writer));
const seconds = (performance.now() - begun) / 1000;
await handle.close();
process.send({ result: { perSecond: writes / seconds } });
