// Reads a repository in one of three ways, as a process of its own, and prints what that took: clone URL DIR | program URL DIR | library URL DIR
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';

const [way, url, directory] = process.argv.slice(2);
const isManifest = (path) => path.endsWith('.yaml');

async function clone() {
  await promisify(execFile)('git', ['clone', '--quiet', '--depth=1', url, directory]);
  const texts = new Map();
  for (const { name, parentPath, path } of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (isManifest(name))
      texts.set(join(parentPath ?? path, name), await readFile(join(parentPath ?? path, name), 'utf8'));
  return texts.size;
}

async function ours() {
  const { gitClient } = await import('../dist/main/git/git-client.js');
  const client = gitClient({ directory, ...(way === 'library' ? { path: '/nowhere' } : {}) });
  const { signal } = new AbortController();
  const commit = await client.fetch({ url }, undefined, signal);
  const files = await client.files({ url }, commit, isManifest, signal);
  return files.filter(({ text }) => text !== undefined).length;
}

const idle = process.memoryUsage().rss;
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const began = performance.now();
const files = await (way === 'clone' ? clone() : ours());
const ms = performance.now() - began;
const { maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ files, ms, mb: (maxRSS * 1024 - idle) / 2 ** 20, stalledMs: delay.max / 1e6 }));
