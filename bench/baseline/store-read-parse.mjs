// The least that opening can cost if everything is parsed: read a file of JSON lines, parse each. node store-read-parse.mjs FILE
import { readFile } from 'node:fs/promises';

const begun = performance.now();
const bytes = await readFile(process.argv[2]);
const objects = [];
for (let start = 0; start < bytes.length; ) {
  const end = bytes.indexOf(10, start);
  objects.push(JSON.parse(bytes.toString('utf8', start, end)));
  start = end + 1;
}
const ms = performance.now() - begun;
process.send({ result: { ms, count: objects.length } });
